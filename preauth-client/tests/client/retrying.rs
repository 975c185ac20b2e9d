use std::sync::Arc;
use std::time::Duration;

use preauth_client::{Call, Client, ErrorKind, RetryPolicy};
use wiremock::{MockServer, ResponseTemplate};

use crate::skipped::Skipped;
use crate::{KEY, answering, client, id, offer, quick, refusal, requests, success};

const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(3600);

#[tokio::test]
async fn statuses_that_pass_are_tried_again() {
    for status in [408, 429, 500, 501, 502, 503, 504] {
        let server = MockServer::start().await;
        answering(&server, ResponseTemplate::new(status), Some(1)).await;
        answering(&server, success(200), None).await;
        let read = client(&server).get(id()).await.unwrap();
        assert_eq!(read.attempts(), 2, "{status}");
    }
}

#[tokio::test]
async fn a_create_in_progress_is_asked_for_again() {
    let server = MockServer::start().await;
    answering(&server, refusal(409, "IDEMPOTENCY_IN_PROGRESS"), Some(2)).await;
    answering(&server, success(201), None).await;
    let created = client(&server).create(&offer()).await.unwrap();
    assert_eq!(created.attempts(), 3);
}

#[tokio::test]
async fn a_cancel_that_lost_a_race_is_tried_again() {
    let server = MockServer::start().await;
    let lost = refusal(409, "ANTICIPATION_INVALID_TRANSITION");
    answering(&server, lost, Some(1)).await;
    answering(&server, refusal(422, "PRE_AUTH_ALREADY_REQUESTED"), None).await;
    let error = client(&server).cancel(id()).await.unwrap_err();
    assert_eq!((error.status(), error.attempts()), (Some(422), 2));
}

#[tokio::test]
async fn a_permanent_refusal_is_not_retried() {
    let refusals = [
        (400, "VALIDATION_ERROR"),
        (400, "IDEMPOTENCY_KEY_INVALID"),
        (401, "API_KEY_REVOKED"),
        (403, "RBAC_FORBIDDEN"),
        (404, "ANTICIPATION_NOT_FOUND"),
        (409, "IDEMPOTENCY_KEY_REUSED"),
        (409, "PRE_AUTH_DUPLICATE_INVOICE"),
        (409, "SOMETHING_NEW"),
        (413, "PAYLOAD_TOO_LARGE"),
        (422, "PRE_AUTH_SUPPLIER_BLOCKED"),
    ];
    for (status, code) in refusals {
        let server = MockServer::start().await;
        answering(&server, refusal(status, code), None).await;
        let error = client(&server).create(&offer()).await.unwrap_err();
        assert!(!error.is_retryable(), "{code}");
        assert_eq!(error.attempts(), 1, "{code}");
        assert_eq!(requests(&server).await.len(), 1, "{code}");
    }
}

#[tokio::test]
async fn when_attempts_run_out_the_last_failure_is_returned() {
    let server = MockServer::start().await;
    answering(&server, refusal(500, "INTERNAL_ERROR"), Some(2)).await;
    answering(&server, refusal(503, "SERVICE_UNAVAILABLE"), None).await;
    let error = client(&server).get(id()).await.unwrap_err();
    assert_eq!((error.status(), error.attempts()), (Some(503), 3));
    assert!(error.is_retryable());
    assert_eq!(requests(&server).await.len(), 3);
}

#[tokio::test]
async fn retries_can_be_turned_off() {
    let server = MockServer::start().await;
    answering(&server, refusal(503, "SERVICE_UNAVAILABLE"), None).await;
    let client = quick(&server.uri()).retry(RetryPolicy::never());
    let error = client.build().unwrap().get(id()).await.unwrap_err();
    assert_eq!(error.attempts(), 1);
    assert_eq!(requests(&server).await.len(), 1);
}

#[tokio::test]
async fn waits_double_up_to_their_limit_and_are_drawn() {
    let server = MockServer::start().await;
    answering(&server, refusal(503, "SERVICE_UNAVAILABLE"), None).await;
    let skipped = Skipped::half();
    let policy = RetryPolicy::default().max_attempts(6).budget(HOUR);
    let policy = policy.first_delay(SECOND).max_delay(SECOND * 5);
    let client = quick(&server.uri())
        .retry(policy)
        .timing(Arc::clone(&skipped));
    let error = client.build().unwrap().get(id()).await.unwrap_err();
    assert_eq!(error.attempts(), 6);
    assert_eq!(skipped.waits_ms(), [500, 1000, 2000, 2500, 2500]);
}

#[tokio::test]
async fn the_wait_that_the_service_asks_for_is_kept_and_the_random_one_added() {
    let server = MockServer::start().await;
    let limited = refusal(429, "RATE_LIMITED").insert_header("retry-after", "42");
    answering(&server, limited, Some(1)).await;
    answering(&server, success(200), None).await;
    let skipped = Skipped::half();
    let client = Client::builder(server.uri(), KEY).timing(Arc::clone(&skipped));
    client.build().unwrap().get(id()).await.unwrap();
    assert_eq!(skipped.waits_ms(), [42_100]);
}

#[tokio::test]
async fn a_used_up_limit_without_a_wait_is_waited_for() {
    let server = MockServer::start().await;
    let limited = refusal(429, "RATE_LIMITED")
        .insert_header("x-ratelimit-limit", "120")
        .insert_header("x-ratelimit-remaining", "0")
        .insert_header("x-ratelimit-reset", "9");
    answering(&server, limited, Some(1)).await;
    answering(&server, success(200), None).await;
    let skipped = Skipped::half();
    let client = Client::builder(server.uri(), KEY).timing(Arc::clone(&skipped));
    client.build().unwrap().get(id()).await.unwrap();
    assert_eq!(skipped.waits_ms(), [9_100]);
}

#[tokio::test]
async fn a_wait_beyond_the_budget_is_not_begun() {
    let server = MockServer::start().await;
    let limited = refusal(429, "RATE_LIMITED").insert_header("retry-after", "60");
    answering(&server, limited, None).await;
    let skipped = Skipped::half();
    // 75 s in all: one wait of a minute fits, two do not.
    let client = Client::builder(server.uri(), KEY).timing(Arc::clone(&skipped));
    let error = client.build().unwrap().get(id()).await.unwrap_err();
    assert_eq!(skipped.waits_ms(), [60_100]);
    assert_eq!(error.retry_after(), Some(Duration::from_secs(60)));
    assert_eq!(requests(&server).await.len(), 2);
}

#[tokio::test]
async fn a_code_that_passes_in_one_call_does_not_in_another() {
    let server = MockServer::start().await;
    let lost = refusal(409, "ANTICIPATION_INVALID_TRANSITION");
    answering(&server, lost, Some(1)).await;
    answering(&server, refusal(409, "IDEMPOTENCY_IN_PROGRESS"), None).await;
    let client = client(&server);
    let error = client.create(&offer()).await.unwrap_err();
    assert!(!error.is_retryable());
    assert_eq!((error.call(), error.attempts()), (Some(Call::Create), 1));
    let error = client.cancel(id()).await.unwrap_err();
    assert!(!error.is_retryable());
    assert_eq!((error.call(), error.attempts()), (Some(Call::Cancel), 1));
}

#[tokio::test]
async fn the_budget_ends_an_attempt_that_would_take_longer() {
    let server = MockServer::start().await;
    let slow = success(200).set_delay(Duration::from_secs(30));
    answering(&server, slow, None).await;
    let policy = RetryPolicy::default().budget(Duration::from_millis(100));
    let client = quick(&server.uri()).retry(policy).build().unwrap();
    // The answer itself would be a success.
    let error = client.get(id()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout);
}
