use std::time::Duration;

use preauth_client::value::Status;
use preauth_client::{ListFilter, wire::Open};
use serde_json::json;
use wiremock::{MockServer, ResponseTemplate};

use crate::{answering, client, id, operation, quick, requests, success};

#[tokio::test]
async fn an_answer_has_request_id_and_what_is_left_of_the_limit() {
    let server = MockServer::start().await;
    let answer = success(200)
        .insert_header("x-request-id", "0197f3c2")
        .insert_header("x-ratelimit-limit", "120")
        .insert_header("x-ratelimit-remaining", "118")
        .insert_header("x-ratelimit-reset", "42");
    answering(&server, answer, None).await;
    let read = client(&server).get(id()).await.unwrap();
    assert_eq!(read.request_id(), Some("0197f3c2"));
    let limit = read.rate_limit().unwrap();
    assert_eq!((limit.limit(), limit.remaining()), (120, 118));
    assert_eq!(limit.resets_in(), Duration::from_secs(42));
    assert!(!read.is_replayed());
    assert_eq!((read.attempts(), read.idempotency_key()), (1, None));
}

#[tokio::test]
async fn headers_that_are_missing_or_odd_do_not_cost_the_answer() {
    let server = MockServer::start().await;
    let answer = success(200)
        .insert_header("x-ratelimit-limit", "many")
        .insert_header("x-ratelimit-remaining", "-1");
    answering(&server, answer, None).await;
    let read = client(&server).get(id()).await.unwrap();
    assert_eq!((read.request_id(), read.rate_limit()), (None, None));
}

// Contract: version/tolerance
#[tokio::test]
async fn new_fields_and_statuses_are_no_error_and_can_be_seen() {
    let server = MockServer::start().await;
    let mut newer = operation("ON_HOLD");
    newer["riskClass"] = json!({"name": "A"});
    answering(
        &server,
        ResponseTemplate::new(200).set_body_json(newer),
        None,
    )
    .await;
    let read = client(&server).get(id()).await.unwrap();
    assert_eq!(read.status, Open::Unknown("ON_HOLD".to_owned()));
    let raw = std::str::from_utf8(read.raw()).unwrap();
    assert!(raw.contains("riskClass"), "{raw}");
}

#[tokio::test]
async fn get_and_cancel_name_the_operation_in_the_path() {
    let server = MockServer::start().await;
    answering(&server, success(201), None).await;
    let client = client(&server);
    client.get(id()).await.unwrap();
    client.cancel(id()).await.unwrap();
    let sent = requests(&server).await;
    let lines: Vec<_> = sent
        .iter()
        .map(|request| format!("{} {}", request.method, request.url.path()))
        .collect();
    let expected = [
        "GET /api/integration/v1/pre-authorizations/1042",
        "POST /api/integration/v1/pre-authorizations/1042/cancel",
    ];
    assert_eq!(lines, expected);
    for request in &sent {
        assert!(request.body.is_empty());
        assert!(!request.headers.contains_key("idempotency-key"));
    }
}

#[tokio::test]
async fn a_list_sends_its_filter_and_gives_a_page() {
    let server = MockServer::start().await;
    let page = json!({
        "data": [operation("TO_PAY")],
        "pagination": {"page": 2, "limit": 1, "total": 3, "totalPages": 3}
    });
    answering(
        &server,
        ResponseTemplate::new(200).set_body_json(page),
        None,
    )
    .await;
    let filter = ListFilter::new().status(Status::ToPay).page(2).limit(1);
    let page = client(&server).list(&filter).await.unwrap();
    assert_eq!(page.data[0].status, Status::ToPay);
    assert_eq!(page.pagination.total_pages, 3);
    let sent = requests(&server).await;
    assert_eq!(sent[0].url.query(), Some("status=TO_PAY&page=2&limit=1"));
}

#[tokio::test]
async fn a_base_address_may_have_a_path() {
    let server = MockServer::start().await;
    answering(&server, success(200), None).await;
    let base = format!("{}/gateway/", server.uri());
    quick(&base).build().unwrap().get(id()).await.unwrap();
    let sent = requests(&server).await;
    assert_eq!(
        sent[0].url.path(),
        "/gateway/api/integration/v1/pre-authorizations/1042"
    );
}

#[tokio::test]
async fn a_base_address_may_end_in_the_path_of_the_api() {
    let server = MockServer::start().await;
    answering(&server, success(200), None).await;
    for end in ["/api/integration/v1", "/api/integration/v1/"] {
        let base = format!("{}{end}", server.uri());
        quick(&base).build().unwrap().get(id()).await.unwrap();
    }
    for request in requests(&server).await {
        assert_eq!(
            request.url.path(),
            "/api/integration/v1/pre-authorizations/1042"
        );
    }
}
