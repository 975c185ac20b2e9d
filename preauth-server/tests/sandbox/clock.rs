//! One clock for everything: the effects of a jump.

use std::time::Duration;

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use preauth_core::delivery::RETRY_DELAYS_SECONDS;
use preauth_core::value::Timestamp;
use serde_json::{Value, json};
use test_support::{
    Backend, RawCaller, Sandbox, TestReceiver, due_date, offer_body, on_each_database,
    travel::{CLOCK, DAY, advance, retry_delays},
    with,
};

on_each_database! {
    an_offer_expires_when_its_month_has_passed_and_the_event_verifies_by_the_receivers_clock,
    a_delivery_is_tried_over_days_within_seconds,
    history_goes_when_its_month_is_over,
    a_window_begins_anew_and_a_key_ends,
    a_due_date_comes_nearer_and_a_far_one_into_reach,
    an_idempotency_key_is_forgotten_after_a_month,
    a_sandbox_goes_on_in_its_own_time,
    a_jump_is_a_whole_number_of_seconds_within_a_year,
}

const PATIENCE: Duration = Duration::from_mins(1);
const MONTH_AND_A_DAY: u64 = 31 * DAY;

/// Polls until the condition holds.
pub(crate) async fn eventually<F: Future<Output = bool>>(what: &str, mut is_so: impl FnMut() -> F) {
    let wait = async {
        while !is_so().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let waited = tokio::time::timeout(PATIENCE, wait).await;
    waited.unwrap_or_else(|_| panic!("not in time: {what}"));
}

async fn create(caller: &RawCaller, body: &Value) -> Value {
    let created = caller.post_json(PRE_AUTHORIZATIONS, body).await;
    assert_eq!(created.status, 201, "{}", created.text);
    created.json()
}

// Contract: envelope/createdAt transition/expiry get-call/200
async fn an_offer_expires_when_its_month_has_passed_and_the_event_verifies_by_the_receivers_clock(
    backend: Backend,
) {
    let receiver = TestReceiver::start().await;
    let sandbox = Sandbox::start_sending_to(backend, &receiver.url()).await;
    let caller = sandbox.caller("apiKey");
    let offer = create(&caller, &offer_body(&sandbox, "NF-1")).await;
    advance(&sandbox, MONTH_AND_A_DAY).await;
    // `arrived` verifies with the machine's own clock and the usual 300 seconds.
    let arrived = receiver.arrived(2, sandbox.text("webhookSecret")).await;
    let mut types: Vec<_> = arrived
        .iter()
        .map(|event| event.body["type"].as_str().unwrap())
        .collect();
    types.sort_unstable();
    assert_eq!(
        types,
        ["pre_authorization.created", "pre_authorization.expired"]
    );
    let expired = arrived
        .iter()
        .find(|event| event.body["type"] == "pre_authorization.expired");
    let expired = &expired.unwrap().body;
    assert_eq!(expired["data"]["stage"], "SYSTEM");
    let moment = |value: &Value| Timestamp::parse(value.as_str().unwrap()).unwrap();
    assert!(moment(&expired["createdAt"]) >= moment(&offer["expiresAt"]));
    let found = caller.get(&format!("{PRE_AUTHORIZATIONS}/1")).await;
    assert_eq!(found.json()["status"], "REPROVED");
}

// Contract: endpoint/history
async fn a_delivery_is_tried_over_days_within_seconds(backend: Backend) {
    let receiver = TestReceiver::start_failing(10).await;
    let sandbox = Sandbox::start_sending_to(backend, &receiver.url()).await;
    let caller = sandbox.caller("apiKey");
    create(&caller, &offer_body(&sandbox, "NF-1")).await;
    let secret = sandbox.text("webhookSecret");
    let platform = sandbox.platform();
    let deliveries = deliveries_path(&sandbox).await;
    for (made, delay) in (1..).zip(retry_delays()) {
        receiver.arrived(made, secret).await;
        // The next attempt is due only once this one is recorded.
        eventually("the attempt is recorded", || async {
            let found = platform.get(&deliveries).await.json();
            found["data"][0]["attempts"].as_array().map_or(0, Vec::len) == made
        })
        .await;
        advance(&sandbox, delay).await;
    }
    let arrived = receiver.arrived(11, secret).await;
    assert!(arrived.iter().all(|event| event.body == arrived[0].body));
    eventually("it has arrived at last", || async {
        platform.get(&deliveries).await.json()["data"][0]["status"] == "DELIVERED"
    })
    .await;
    let passed: i64 = RETRY_DELAYS_SECONDS.iter().sum();
    assert!(passed > 3 * 86_400);
}

async fn deliveries_path(sandbox: &Sandbox) -> String {
    let sought = format!(
        "/api/platform/v1/companies?cnpj={}",
        sandbox.text("companyCnpj")
    );
    let found = sandbox.platform().get(&sought).await.json();
    let company = found["data"][0]["id"].as_str().unwrap();
    format!("/api/platform/v1/companies/{company}/deliveries")
}

async fn history_goes_when_its_month_is_over(backend: Backend) {
    let receiver = TestReceiver::start().await;
    let sandbox = Sandbox::start_sending_to(backend, &receiver.url()).await;
    create(&sandbox.caller("apiKey"), &offer_body(&sandbox, "NF-1")).await;
    receiver.arrived(1, sandbox.text("webhookSecret")).await;
    let platform = sandbox.platform();
    let created = format!(
        "{}?eventType=pre_authorization.created&status=DELIVERED",
        deliveries_path(&sandbox).await
    );
    let are_kept =
        async |count: u64| platform.get(&created).await.json()["pagination"]["total"] == count;
    eventually("the delivery is recorded", || are_kept(1)).await;
    advance(&sandbox, MONTH_AND_A_DAY).await;
    // The janitor would sleep for a minute if it were not woken.
    let removed = eventually("it is removed", || are_kept(0));
    let removed = tokio::time::timeout(PATIENCE / 2, removed).await;
    removed.expect("the janitor does not sleep through a jump");
}

// Contract: authentication/validity limit/requests
async fn a_window_begins_anew_and_a_key_ends(backend: Backend) {
    let sandbox = Sandbox::start_with(backend, &["--rate-limit", "2"]).await;
    let caller = sandbox.caller("apiKey");
    for status in [200, 200, 429] {
        assert_eq!(caller.get(PRE_AUTHORIZATIONS).await.status, status);
    }
    advance(&sandbox, 61).await;
    let fresh = caller.get(PRE_AUTHORIZATIONS).await;
    assert_eq!(
        (fresh.status, fresh.header("x-ratelimit-remaining")),
        (200, "1")
    );
    advance(&sandbox, 364 * DAY).await;
    assert_eq!(caller.get(PRE_AUTHORIZATIONS).await.status, 200);
    advance(&sandbox, DAY).await;
    let expired = caller.get(PRE_AUTHORIZATIONS).await;
    assert_eq!(expired.refusal(), (401, "API_KEY_EXPIRED".to_owned()));
}

async fn a_due_date_comes_nearer_and_a_far_one_into_reach(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let caller = sandbox.caller("apiKey");
    let due = |number: &str, days: u64| {
        with(
            offer_body(&sandbox, number),
            "/invoice/dueDate",
            json!(due_date(days).to_string()),
        )
    };
    let too_far = caller
        .post_json(PRE_AUTHORIZATIONS, &due("NF-1", 200))
        .await;
    assert_eq!(too_far.code(), "ANTICIPATION_DUE_DATE_TOO_FAR");
    create(&caller, &due("NF-2", 35)).await;
    advance(&sandbox, MONTH_AND_A_DAY).await;
    create(&caller, &due("NF-1", 200)).await;
    let too_near = caller.post_json(PRE_AUTHORIZATIONS, &due("NF-3", 35)).await;
    assert_eq!(too_near.code(), "ANTICIPATION_INVALID_DUE_DATE");
}

// Contract: create-call/remembered
async fn an_idempotency_key_is_forgotten_after_a_month(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let caller = sandbox.caller("apiKey");
    let send = async |number: &str| {
        let body = offer_body(&sandbox, number).to_string();
        let key = [("idempotency-key", "pedido-0001")];
        caller.post_text(PRE_AUTHORIZATIONS, &key, body).await
    };
    assert_eq!(send("NF-1").await.status, 201);
    assert_eq!(send("NF-1").await.header("idempotency-replayed"), "true");
    assert_eq!(send("NF-2").await.code(), "IDEMPOTENCY_KEY_REUSED");
    advance(&sandbox, 30 * DAY + 60).await;
    let anew = send("NF-2").await;
    assert_eq!(
        (anew.status, anew.header("idempotency-replayed")),
        (201, "")
    );
}

async fn a_sandbox_goes_on_in_its_own_time(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let before = advance(&sandbox, 90 * DAY).await.json();
    let sandbox = Sandbox::start_in(sandbox.kill(), &[]).await;
    let after = advance(&sandbox, 0).await.json();
    let moment = |answer: &Value| Timestamp::parse(answer["now"].as_str().unwrap()).unwrap();
    assert!(moment(&after) >= moment(&before));
    assert!(moment(&after).since(moment(&before)).num_minutes() < 60);
}

async fn a_jump_is_a_whole_number_of_seconds_within_a_year(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let platform = sandbox.platform();
    for body in [
        json!({}),
        json!({"advanceSeconds": null}),
        json!({"advanceSeconds": -1}),
        json!({"advanceSeconds": 1.5}),
        json!({"advanceSeconds": "60"}),
        json!({"advanceSeconds": 366 * DAY + 1}),
        json!({"advanceSeconds": u64::MAX}),
    ] {
        let refused = platform.post_json(CLOCK, &body).await;
        assert_eq!(
            refused.refusal(),
            (400, "VALIDATION_ERROR".to_owned()),
            "{body}"
        );
        assert_eq!(refused.fields(), ["advanceSeconds"], "{body}");
    }
    let stranger = RawCaller::new(sandbox.text("platformUrl"), Some(sandbox.text("apiKey")));
    let refused = stranger
        .post_json(CLOCK, &json!({"advanceSeconds": 1}))
        .await;
    assert_eq!(
        refused.refusal(),
        (401, "PLATFORM_TOKEN_INVALID".to_owned())
    );
    let public = sandbox.caller("apiKey");
    let unknown = public.post_json(CLOCK, &json!({"advanceSeconds": 1})).await;
    assert_eq!(unknown.refusal(), (404, "NOT_FOUND".to_owned()));
}
