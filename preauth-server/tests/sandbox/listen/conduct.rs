//! Failure modes, as a sender sees them.

use serde_json::{Value, json};
use test_support::Sandbox;

use super::listener::{Listener, with_sandbox};

const SECRET: &str = "whsec_dGVzdC1vbmx5LXNlY3JldC1vZi10aGUtZG9jcyE";

async fn send_test_event(sandbox: &Sandbox) -> String {
    let company = sandbox.company().await;
    let path = format!("/api/platform/v1/companies/{company}/webhook-endpoint/test");
    let queued = sandbox.platform().post(&path).await.json();
    format!(
        "/api/platform/v1/deliveries/{}",
        queued["id"].as_str().unwrap()
    )
}

/// The attempts of a delivery, once there are `count`.
async fn attempts(sandbox: &Sandbox, delivery: &str, count: usize) -> Vec<Value> {
    let wait = async {
        loop {
            let found = sandbox.platform().get(delivery).await.json();
            let attempts = found["attempts"].as_array().unwrap().clone();
            if attempts.len() >= count {
                return attempts;
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    };
    let waited = tokio::time::timeout(std::time::Duration::from_mins(1), wait).await;
    waited.unwrap_or_else(|_| panic!("{}", sandbox.log()))
}

async fn advance(sandbox: &Sandbox, seconds: u32) {
    let body = json!({"advanceSeconds": seconds});
    let moved = sandbox.platform();
    let moved = moved
        .post_json("/api/platform/v1/sandbox/clock", &body)
        .await;
    assert_eq!(moved.status, 200, "{}", moved.text);
}

#[tokio::test]
async fn the_first_deliveries_fail_and_the_repetition_is_known_again() {
    let (listener, sandbox) = with_sandbox(&["--json", "--fail", "2", "--status", "503"]).await;
    let delivery = send_test_event(&sandbox).await;
    for made in 1..3 {
        attempts(&sandbox, &delivery, made).await;
        advance(&sandbox, 600).await;
    }
    let attempts = attempts(&sandbox, &delivery, 3).await;
    let answered: Vec<_> = attempts.iter().map(|it| it["httpStatus"].clone()).collect();
    assert_eq!(answered, [json!(503), json!(503), json!(204)]);
    let received = listener.received(3).await;
    for (nth, received) in (1..).zip(&received) {
        assert_eq!(
            (&received["verified"], &received["arrival"]),
            (&json!(true), &json!(nth))
        );
    }
}

#[tokio::test]
async fn a_dropped_connection_reaches_the_sender_as_no_answer() {
    let (listener, sandbox) = with_sandbox(&["--json", "--drop"]).await;
    let delivery = send_test_event(&sandbox).await;
    let attempt = attempts(&sandbox, &delivery, 1).await.remove(0);
    assert!(attempt["httpStatus"].is_null(), "{attempt}");
    assert!(attempt["error"].is_string(), "{attempt}");
    let received = listener.received(1).await.remove(0);
    assert_eq!(
        (&received["verified"], &received["status"]),
        (&json!(true), &json!(null))
    );
}

#[tokio::test]
async fn an_answer_may_be_late() {
    let listener = Listener::start(&["--json", "--delay", "1s", "--secret", SECRET]).await;
    assert_eq!(listener.send(None, "{}").await, 400);
    assert_eq!(listener.received(1).await[0]["delaySeconds"], 1);
}
