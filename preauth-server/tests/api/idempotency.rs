//! Idempotency keys: one key, one operation, one answer.

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use serde_json::json;
use test_support::{Backend, Sandbox, offer_body, on_each_database, with};

on_each_database! {
    the_same_request_has_the_same_answer_byte_for_byte,
    a_key_answers_one_content_only,
    a_refusal_is_not_remembered,
    a_replay_outlives_the_process_that_answered_first,
}

const KEY: (&str, &str) = ("idempotency-key", "pedido-0001");

// Contract: create-call/replay create-call/Idempotency-Replayed
async fn the_same_request_has_the_same_answer_byte_for_byte(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let caller = sandbox.caller("apiKey");
    let body = with(
        offer_body(&sandbox, "NF-1"),
        "/externalReference",
        json!("R"),
    );
    let first = caller
        .post_text(PRE_AUTHORIZATIONS, &[KEY], body.to_string())
        .await;
    assert_eq!(
        (first.status, first.header("idempotency-replayed")),
        (201, "")
    );
    let cancelled = caller.post(&format!("{PRE_AUTHORIZATIONS}/1/cancel")).await;
    assert_eq!(cancelled.status, 201);
    // The same content in another notation is the same request.
    let masked = with(body, "/supplier/cnpj", json!("11.444.777/0001-61"));
    let spelled = with(masked, "/invoice/amount", json!("12500.50"))
        .to_string()
        .replace(',', " , ");
    let again = caller.post_text(PRE_AUTHORIZATIONS, &[KEY], spelled).await;
    assert_eq!(
        (again.status, again.header("idempotency-replayed")),
        (201, "true")
    );
    assert_eq!(again.text, first.text);
    let other_key = sandbox.caller("writeOnlyApiKey");
    let body = with(
        offer_body(&sandbox, "NF-1"),
        "/externalReference",
        json!("R"),
    );
    let rotated = other_key
        .post_text(PRE_AUTHORIZATIONS, &[KEY], body.to_string())
        .await;
    assert_eq!(
        rotated.text, first.text,
        "a key of the same head office replays it"
    );
}

// Contract: create-call/other-body error-code-of-ours/IDEMPOTENCY_KEY_REUSED
async fn a_key_answers_one_content_only(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let caller = sandbox.caller("apiKey");
    let body = offer_body(&sandbox, "NF-1");
    let made = caller
        .post_text(PRE_AUTHORIZATIONS, &[KEY], body.to_string())
        .await;
    assert_eq!(made.status, 201, "{}", made.text);
    let other = with(body, "/invoice/amount", json!(12500.51));
    let answer = caller
        .post_text(PRE_AUTHORIZATIONS, &[KEY], other.to_string())
        .await;
    assert_eq!(answer.refusal(), (409, "IDEMPOTENCY_KEY_REUSED".to_owned()));
    let names_the_first = json!([{"anticipationId": made.json()["id"]}]);
    assert_eq!(answer.json()["details"], names_the_first);
    assert_eq!(
        answer.header("retry-after"),
        "",
        "it must never be sent again"
    );
}

// Contract: create-call/only-successes
async fn a_refusal_is_not_remembered(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let caller = sandbox.caller("apiKey");
    let blocked = json!(sandbox.text("blockedSupplierCnpj"));
    let refused = with(offer_body(&sandbox, "NF-1"), "/supplier/cnpj", blocked).to_string();
    for _ in 0..2 {
        let answer = caller
            .post_text(PRE_AUTHORIZATIONS, &[KEY], refused.clone())
            .await;
        assert_eq!(
            answer.refusal(),
            (422, "PRE_AUTH_SUPPLIER_BLOCKED".to_owned())
        );
    }
    let body = offer_body(&sandbox, "NF-1").to_string();
    assert_eq!(
        caller
            .post_text(PRE_AUTHORIZATIONS, &[KEY], body)
            .await
            .status,
        201
    );
}

// Contract: create-call/replay
async fn a_replay_outlives_the_process_that_answered_first(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let body = offer_body(&sandbox, "NF-1").to_string();
    let first = sandbox
        .caller("apiKey")
        .post_text(PRE_AUTHORIZATIONS, &[KEY], body.clone())
        .await;
    assert_eq!(first.status, 201, "{}", first.text);
    let home = sandbox.kill();
    let sandbox = Sandbox::start_in(home, &["--rate-limit", "1000000"]).await;
    let again = sandbox
        .caller("apiKey")
        .post_text(PRE_AUTHORIZATIONS, &[KEY], body)
        .await;
    assert_eq!(
        (again.status, again.header("idempotency-replayed")),
        (201, "true")
    );
    assert_eq!(again.text, first.text);
}
