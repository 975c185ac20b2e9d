use std::sync::Arc;
use std::time::Duration;

use preauth_client::value::Status;
use preauth_client::{Client, WaitPolicy, Waited};
use wiremock::{MockServer, ResponseTemplate};

use crate::skipped::Skipped;
use crate::{KEY, answering, id, operation, refusal};

const HOUR: WaitPolicy = WaitPolicy::new(Duration::from_secs(3600));

async fn standing(server: &MockServer, status: &str, times: Option<u64>) {
    let answer = ResponseTemplate::new(200).set_body_json(operation(status));
    answering(server, answer, times).await;
}

fn client(server: &MockServer, skipped: &Arc<Skipped>) -> Client {
    let builder = Client::builder(server.uri(), KEY).timing(Arc::clone(skipped));
    builder.build().unwrap()
}

#[tokio::test]
async fn a_status_is_asked_for_until_it_is_there() {
    let (server, skipped) = (MockServer::start().await, Skipped::half());
    standing(&server, "IN_PRE_AUTH", Some(2)).await;
    // One that is newer than the client is like any other that is not wanted.
    standing(&server, "ON_HOLD", Some(1)).await;
    standing(&server, "TO_APPROVE", None).await;
    let statuses = [Status::ToApprove, Status::InAnalysis];
    let client = client(&server, &skipped);
    let waited = client.wait_for_status(id(), &statuses, HOUR).await;
    let Waited::Reached(operation) = waited.unwrap() else {
        panic!("the status is reached")
    };
    assert_eq!(operation.status, Status::ToApprove);
    assert_eq!(skipped.waits_ms(), [1500, 3000, 6000]);
}

#[tokio::test]
async fn a_closed_operation_is_not_waited_for() {
    for (status, wanted) in [
        ("REPROVED", Status::ToApprove),
        ("CONCLUDED", Status::Reproved),
    ] {
        let (server, skipped) = (MockServer::start().await, Skipped::half());
        standing(&server, status, None).await;
        let client = client(&server, &skipped);
        let waited = client.wait_for_status(id(), &[wanted], HOUR).await.unwrap();
        assert!(matches!(waited, Waited::Closed(_)), "{waited:?}");
        assert_eq!(waited.operation().status.as_str(), status);
        assert!(skipped.waits_ms().is_empty());
    }
}

#[tokio::test]
async fn the_time_ends_before_a_question_that_would_come_too_late() {
    let (server, skipped) = (MockServer::start().await, Skipped::half());
    standing(&server, "IN_PRE_AUTH", None).await;
    let policy = WaitPolicy::new(Duration::from_secs(10));
    let client = client(&server, &skipped);
    let waited = client.wait_for_status(id(), &[Status::ToPay], policy).await;
    assert!(matches!(waited.unwrap(), Waited::TimeIsUp(_)));
    // The next would have been six more.
    assert_eq!(skipped.waits_ms(), [1500, 3000]);
}

#[tokio::test]
async fn a_used_up_request_limit_is_waited_out() {
    let (server, skipped) = (MockServer::start().await, Skipped::half());
    let last = ResponseTemplate::new(200)
        .set_body_json(operation("IN_PRE_AUTH"))
        .insert_header("x-ratelimit-limit", "120")
        .insert_header("x-ratelimit-remaining", "0")
        .insert_header("x-ratelimit-reset", "37");
    answering(&server, last, Some(1)).await;
    standing(&server, "TO_PAY", None).await;
    let client = client(&server, &skipped);
    let waited = client.wait_for_status(id(), &[Status::ToPay], HOUR).await;
    assert!(matches!(waited.unwrap(), Waited::Reached(_)));
    assert_eq!(skipped.waits_ms(), [37_000]);
}

#[tokio::test]
async fn a_question_that_is_refused_ends_the_waiting() {
    let (server, skipped) = (MockServer::start().await, Skipped::half());
    answering(&server, refusal(404, "ANTICIPATION_NOT_FOUND"), None).await;
    let client = client(&server, &skipped);
    let error = client.wait_for_status(id(), &[Status::ToPay], HOUR).await;
    assert_eq!(error.unwrap_err().status(), Some(404));
}
