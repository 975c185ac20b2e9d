use std::sync::{Arc, Mutex};

use futures_util::{StreamExt, TryStreamExt};
use preauth_client::value::Status;
use preauth_client::{ErrorKind, ListFilter};
use serde_json::json;
use wiremock::matchers::{any, query_param};
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

use crate::{answering, client, operation, refusal, requests};

/// A list of operations, newest first, to which some arrive after each page.
#[derive(Clone, Default)]
struct Growing {
    ids: Arc<Mutex<Vec<i64>>>,
    arrivals: i64,
}

impl Growing {
    fn new(count: i64, arrivals: i64) -> Self {
        let ids = Arc::new(Mutex::new((1..=count).rev().collect()));
        Self { ids, arrivals }
    }
}

impl Respond for Growing {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let number = |name: &str| {
            let mut pairs = request.url.query_pairs();
            let (_, value) = pairs.find(|(key, _)| key == name).unwrap();
            value.parse::<usize>().unwrap()
        };
        let (page, limit) = (number("page"), number("limit"));
        let mut ids = self.ids.lock().unwrap();
        let shown = ids
            .iter()
            .skip(page.saturating_sub(1).saturating_mul(limit));
        let data: Vec<_> = shown
            .take(limit)
            .map(|id| {
                let mut entry = operation("IN_PRE_AUTH");
                entry["id"] = json!(id);
                entry
            })
            .collect();
        let pages = ids.len().div_ceil(limit);
        let body = json!({
            "data": data,
            "pagination": {"page": page, "limit": limit, "total": ids.len(), "totalPages": pages}
        });
        for _ in 0..self.arrivals {
            let newest = ids[0].saturating_add(1);
            ids.insert(0, newest);
        }
        ResponseTemplate::new(200)
            .set_body_json(body)
            .insert_header("x-ratelimit-limit", "120")
            .insert_header("x-ratelimit-remaining", "7")
            .insert_header("x-ratelimit-reset", "9")
    }
}

async fn growing(count: i64, arrivals: i64) -> MockServer {
    let server = MockServer::start().await;
    let list = Growing::new(count, arrivals);
    Mock::given(any()).respond_with(list).mount(&server).await;
    server
}

#[tokio::test]
async fn all_pages_are_one_stream_to_which_new_operations_do_no_harm() {
    let server = growing(250, 3).await;
    let stream = client(&server).list_all(&ListFilter::new());
    let all: Vec<_> = stream.try_collect().await.unwrap();
    let ids: Vec<_> = all.iter().map(|operation| operation.id.get()).collect();
    assert_eq!(ids, (1..=250).rev().collect::<Vec<_>>());
    // Pages begin with an entry that was seen.
    let sent = requests(&server).await;
    let queries: Vec<_> = sent.iter().filter_map(|sent| sent.url.query()).collect();
    assert_eq!(queries[..2], ["page=1&limit=100", "page=2&limit=99"]);
    assert!(sent.len() <= 4, "{queries:?}");
}

#[tokio::test]
async fn nothing_is_sent_before_it_is_asked_for_and_the_filter_is_kept() {
    let server = MockServer::start().await;
    Mock::given(query_param("status", "IN_PRE_AUTH"))
        .respond_with(Growing::new(30, 0))
        .mount(&server)
        .await;
    let filter = ListFilter::new().status(Status::InPreAuth).page(7).limit(5);
    let mut operations = client(&server).list_all(&filter);
    assert!(requests(&server).await.is_empty());
    assert_eq!(operations.rate_limit(), None);
    let first = operations.next().await.unwrap().unwrap();
    assert_eq!(first.id.get(), 30);
    assert_eq!(operations.rate_limit().unwrap().remaining(), 7);
    assert_eq!(requests(&server).await.len(), 1);
    let mut rest = 0..;
    while let Some(operation) = operations.next().await {
        operation.unwrap();
        rest.next();
    }
    assert_eq!(rest.start, 29);
    assert!(operations.next().await.is_none());
}

#[tokio::test]
async fn an_empty_list_is_over_at_once() {
    let server = growing(0, 0).await;
    let mut operations = client(&server).list_all(&ListFilter::new());
    assert!(operations.next().await.is_none());
    assert!(operations.next().await.is_none());
    assert_eq!(requests(&server).await.len(), 1);
}

#[tokio::test]
async fn a_failure_that_passes_is_returned_and_the_list_goes_on() {
    let server = growing(120, 0).await;
    let mut operations = client(&server).list_all(&ListFilter::new());
    let mut given = Vec::new();
    while given.len() < 100 {
        given.push(operations.next().await.unwrap().unwrap().id.get());
    }
    server.reset().await;
    answering(&server, refusal(503, "SERVICE_UNAVAILABLE"), None).await;
    let error = operations.next().await.unwrap().unwrap_err();
    assert_eq!((error.status(), error.attempts()), (Some(503), 3));
    server.reset().await;
    let list = Growing::new(120, 0);
    Mock::given(any()).respond_with(list).mount(&server).await;
    while let Some(operation) = operations.next().await {
        given.push(operation.unwrap().id.get());
    }
    assert_eq!(given, (1..=120).rev().collect::<Vec<_>>());
}

#[tokio::test]
async fn a_failure_that_stays_ends_the_stream() {
    let server = MockServer::start().await;
    answering(&server, refusal(403, "INTEGRATION_SCOPE_FORBIDDEN"), None).await;
    let operations = client(&server).list_all(&ListFilter::new());
    let listed: Vec<_> = operations.collect().await;
    let [Err(error)] = &listed[..] else {
        panic!("one error and the end: {listed:?}")
    };
    assert_eq!(error.status(), Some(403));
}

#[tokio::test]
async fn a_list_that_is_none_of_the_service_ends_the_stream() {
    let server = MockServer::start().await;
    let entry = operation("TO_PAY");
    let page = json!({
        "data": [entry, entry],
        "pagination": {"page": 1, "limit": 100, "total": 2, "totalPages": 1}
    });
    let page = ResponseTemplate::new(200).set_body_json(page);
    answering(&server, page, None).await;
    let mut operations = client(&server).list_all(&ListFilter::new());
    let error = operations.next().await.unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnexpectedAnswer);
    assert!(format!("{error:?}").ends_with("the ids of the list do not descend"));
    assert!(operations.next().await.is_none());
}
