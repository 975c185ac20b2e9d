//! The client that blocks, against a server that answers whatever a test wants.
#![cfg(feature = "blocking")]
#![expect(
    clippy::unwrap_used,
    reason = "in a test a panic is the report of a failure"
)]

use std::time::Duration;

use preauth_client::blocking::Client;
use preauth_client::value::{Money, OperationId, Status};
use preauth_client::{
    Ensured, ErrorKind, ListFilter, NewPreAuthorization, RetryPolicy, WaitPolicy,
};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use wiremock::matchers::{method, path, path_regex};
use wiremock::{Mock, MockServer, ResponseTemplate};

const COLLECTION: &str = "/api/integration/v1/pre-authorizations";

/// A server, and the runtime that it lives on.
struct Service {
    runtime: Runtime,
    server: MockServer,
}

impl Service {
    fn start() -> Self {
        let runtime = Runtime::new().unwrap();
        let server = runtime.block_on(MockServer::start());
        Self { runtime, server }
    }

    fn answers(&self, verb: &str, at: &str, status: u16, body: Value) {
        let answer = ResponseTemplate::new(status).set_body_json(body);
        let mock = Mock::given(method(verb)).and(path(at)).respond_with(answer);
        self.runtime.block_on(mock.mount(&self.server));
    }

    fn client(&self) -> Client {
        Client::new(self.server.uri(), "service_sk_test").unwrap()
    }
}

fn operation(id: i64, status: &str) -> Value {
    json!({
        "id": id,
        "status": status,
        "payer": {"cnpj": "11222333000181", "name": "Construtora Exemplo S.A."},
        "supplier": {"cnpj": "12ABC34501DE35"},
        "invoice": {"amount": 1234.56, "dueDate": "2026-12-21", "number": "NF-1"},
        "createdAt": "2026-11-21T12:00:00.000Z"
    })
}

fn offer() -> NewPreAuthorization {
    NewPreAuthorization::new(
        "12.ABC.345/01DE-35".parse().unwrap(),
        "financeiro@fornecedor.example.com".parse().unwrap(),
        Money::parse("1234.56").unwrap(),
        "2026-12-21".parse().unwrap(),
        "NF-1".parse().unwrap(),
    )
}

#[test]
fn every_call_blocks_until_it_is_answered() {
    let service = Service::start();
    let id = OperationId::new(1042).unwrap();
    let one = format!("{COLLECTION}/1042");
    service.answers("POST", COLLECTION, 201, operation(1042, "IN_PRE_AUTH"));
    service.answers("GET", &one, 200, operation(1042, "TO_PAY"));
    let cancelled = operation(1042, "REPROVED");
    service.answers("POST", &format!("{one}/cancel"), 201, cancelled);
    let page = json!({
        "data": [operation(3, "TO_PAY"), operation(2, "TO_PAY")],
        "pagination": {"page": 1, "limit": 20, "total": 2, "totalPages": 1}
    });
    service.answers("GET", COLLECTION, 200, page);

    let client = service.client();
    assert_eq!(client.create(&offer()).unwrap().id, id);
    let ensured = client.create_or_get(&offer()).unwrap();
    assert!(matches!(ensured, Ensured::Created(_)));
    assert_eq!(client.get(id).unwrap().status, Status::ToPay);
    assert_eq!(client.list(&ListFilter::new()).unwrap().pagination.total, 2);
    let all = client.list_all(&ListFilter::new());
    let ids: Vec<_> = all.map(|operation| operation.unwrap().id.get()).collect();
    assert_eq!(ids, [3, 2]);
    assert_eq!(client.cancel(id).unwrap().status, Status::Reproved);
    let policy = WaitPolicy::new(Duration::from_secs(9));
    let waited = client.wait_for_status(id, &[Status::ToPay], policy);
    assert_eq!(waited.unwrap().operation().status, Status::ToPay);
}

#[test]
fn a_failure_is_the_same_as_that_of_the_other_client() {
    let service = Service::start();
    let refusal = json!({"errors": [{"code": "ANTICIPATION_NOT_FOUND", "message": "Não."}]});
    let answer = ResponseTemplate::new(404).set_body_json(refusal);
    let mock = Mock::given(path_regex(".*")).respond_with(answer);
    service.runtime.block_on(mock.mount(&service.server));
    let client = service.client();
    let error = client.get(OperationId::new(7).unwrap()).unwrap_err();
    assert_eq!(error.status(), Some(404));
    let listed: Vec<_> = client.list_all(&ListFilter::new()).collect();
    assert!(matches!(&listed[..], [Err(error)] if error.status() == Some(404)));
}

#[test]
fn it_may_be_shared_by_threads_and_used_and_dropped_inside_of_a_runtime() {
    fn anywhere<T: Send + Sync + Clone + 'static>() {}
    anywhere::<Client>();
    let service = Service::start();
    let (client, id) = (service.client(), OperationId::new(1042).unwrap());
    let one = format!("{COLLECTION}/1042");
    service.answers("GET", &one, 200, operation(1042, "TO_PAY"));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let client = client.clone();
            scope.spawn(move || client.get(id).unwrap());
        }
    });
    let inside = service
        .runtime
        .spawn(async move { client.get(id).map(|read| read.status()) });
    assert_eq!(service.runtime.block_on(inside).unwrap().unwrap(), 200);
}

#[test]
fn a_panic_in_the_callers_observer_is_an_error_of_the_call() {
    let service = Service::start();
    service.answers("GET", COLLECTION, 200, json!({}));
    let client = Client::builder(service.server.uri(), "service_sk_test")
        .retry(RetryPolicy::never())
        .on_attempt(|_| std::panic::resume_unwind(Box::new("the observer's own fault")));
    let client = client.build_blocking().unwrap();
    let error = client.list(&ListFilter::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Transport);
}

#[test]
fn a_panic_in_the_middle_of_many_keeps_the_offers_with_the_keys_they_were_sent_under() {
    let service = Service::start();
    let results = json!({"results": [
        {"index": 0, "status": 201, "preAuthorization": operation(1, "IN_PRE_AUTH")},
    ]});
    service.answers("POST", &format!("{COLLECTION}/batch"), 200, results);
    let client = Client::builder(service.server.uri(), "service_sk_test")
        .on_attempt(|_| std::panic::resume_unwind(Box::new("the observer's own fault")));
    let client = client.build_blocking().unwrap();
    // Without a key of its own.
    let mut many = client.create_many([offer()]).unwrap();
    let error = many.next().unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Transport);
    assert!(many.next().is_none(), "it ends");
    assert_eq!(many.progress().total, 1);
    let sent = service.runtime.block_on(service.server.received_requests());
    let sent: Value = serde_json::from_slice(&sent.unwrap()[0].body).unwrap();
    let left = many.into_unsettled();
    assert_eq!(left.len(), 1);
    let mut again = service.client().create_many(left).unwrap();
    let outcome = again.next().unwrap().unwrap();
    assert_eq!(
        sent["items"][0]["idempotencyKey"],
        outcome.idempotency_key.as_str()
    );
    assert!(outcome.result.is_ok());
}
