//! What is wrong with a batch as a whole, and with one of its items.

use preauth_client::wire::path::BATCH;
use preauth_client::wire::{MAX_BATCH_BYTES, MAX_BATCH_ITEMS};
use serde_json::json;
use test_support::{Backend, Sandbox};

use super::{item, operations};

pub(super) async fn a_batch_that_is_malformed_as_a_whole_does_nothing(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let caller = sandbox.caller("apiKey");
    let many: Vec<_> = (0..=MAX_BATCH_ITEMS).map(|it| item(&sandbox, it)).collect();
    let good = item(&sandbox, 1);
    for (body, field) in [
        (json!({"items": []}), "items"),
        (json!({"items": many}), "items"),
        (json!({"items": {"0": good}}), "items"),
        (json!({"items": null}), "items"),
        (json!({}), "items"),
        (json!([good]), "body"),
    ] {
        let refused = caller.post_json(BATCH, &body).await;
        assert_eq!(refused.refusal(), (400, "VALIDATION_ERROR".to_owned()));
        assert_eq!(refused.fields(), [field]);
    }
    let cut = json!({"items": [good]}).to_string();
    let cut = cut[..cut.len() - 1].to_owned();
    let twice = format!("{{\"items\": [{good}], \"items\": [{good}]}}");
    for (body, field) in [(cut, "body"), (twice, "items")] {
        let refused = caller.post_text(BATCH, &[], body).await;
        assert_eq!(refused.refusal(), (400, "VALIDATION_ERROR".to_owned()));
        assert_eq!(refused.fields(), [field]);
    }
    let form = [("content-type", "multipart/form-data; boundary=x")];
    let refused = caller
        .send(reqwest::Method::POST, BATCH, &form, Some(b"--x--".to_vec()))
        .await;
    assert_eq!(refused.refusal(), (400, "BAD_REQUEST".to_owned()));

    let filled = |bytes: usize| {
        let body = json!({"items": [good], "comment": ""}).to_string();
        let filling = " ".repeat(bytes - body.len());
        body.replace("\"comment\":\"\"", &format!("\"comment\":\"{filling}\""))
    };
    let too_large = caller
        .post_text(BATCH, &[], filled(MAX_BATCH_BYTES + 1))
        .await;
    assert_eq!(too_large.refusal(), (413, "PAYLOAD_TOO_LARGE".to_owned()));
    for method in [reqwest::Method::GET, reqwest::Method::HEAD] {
        let of_an_id = caller.send(method, BATCH, &[], None).await;
        assert_eq!(of_an_id.status, 400, "an id that is no number");
    }
    assert_eq!(operations(&caller).await, 0);

    let largest = caller.post_text(BATCH, &[], filled(MAX_BATCH_BYTES)).await;
    assert_eq!(
        largest.json()["results"][0]["status"],
        201,
        "{}",
        largest.text
    );
}

pub(super) async fn an_item_that_is_malformed_is_no_obstacle_to_the_others(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let caller = sandbox.caller("apiKey");
    let good = item(&sandbox, 1);
    let offer = &good["preAuthorization"];
    let key = "\"idempotencyKey\": \"pedido-9999\"";
    let of_key = Some("idempotencyKey");
    let bad = [
        ("7".to_owned(), "VALIDATION_ERROR", Some("items[0]")),
        ("{}".to_owned(), "IDEMPOTENCY_KEY_INVALID", of_key),
        (
            format!("{{\"preAuthorization\": {offer}}}"),
            "IDEMPOTENCY_KEY_INVALID",
            of_key,
        ),
        (
            format!("{{\"idempotencyKey\": 12345678, \"preAuthorization\": {offer}}}"),
            "IDEMPOTENCY_KEY_INVALID",
            of_key,
        ),
        (
            format!("{{\"idempotencyKey\": \"curta\", \"preAuthorization\": {offer}}}"),
            "IDEMPOTENCY_KEY_INVALID",
            of_key,
        ),
        (
            format!("{{{key}, {key}, \"preAuthorization\": {offer}}}"),
            "VALIDATION_ERROR",
            of_key,
        ),
        (
            format!("{{{key}}}"),
            "VALIDATION_ERROR",
            Some("preAuthorization"),
        ),
        (
            format!("{{{key}, \"preAuthorization\": null}}"),
            "VALIDATION_ERROR",
            Some("preAuthorization"),
        ),
        (
            format!("{{{key}, \"preAuthorization\": {{\"supplier\": 1, \"supplier\": 2}}}}"),
            "VALIDATION_ERROR",
            Some("supplier"),
        ),
        (
            format!(
                "{{{key}, \"preAuthorization\": {}1{}}}",
                "[".repeat(40),
                "]".repeat(40)
            ),
            "VALIDATION_ERROR",
            Some("body"),
        ),
    ];
    for (number, (bad, code, field)) in bad.into_iter().enumerate() {
        let good = item(&sandbox, number + 1);
        let body = format!("{{\"items\": [{bad}, {good}]}}");
        let answer = caller.post_text(BATCH, &[], body).await;
        let results = answer.json()["results"].clone();
        let refused = &results[0];
        assert_eq!(refused["status"], 400, "{bad}: {}", answer.text);
        assert_eq!(refused["errors"][0]["code"], code, "{bad}");
        assert_eq!(refused["details"][0]["field"].as_str(), field, "{bad}");
        assert!(!answer.text.contains("Idempotency-Key"), "{bad}");
        assert_eq!(results[1]["status"], 201, "{bad}: {}", answer.text);
    }
}
