//! The client against a server that answers whatever a test wants.
#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "in a test a panic is the report of a failure"
)]

mod answers;
mod broken_connections;
mod creating;
mod ensuring;
mod events;
mod files;
mod hostile;
mod many;
mod observing;
mod pages;
mod proxies;
mod refusals;
mod retrying;
mod secrets;
mod skipped;
mod texts;
mod unexpected;
mod waiting;

use std::time::Duration;

use preauth_client::value::{Money, OperationId};
use preauth_client::{Client, ClientBuilder, NewPreAuthorization, RetryPolicy};
use serde_json::{Value, json};
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, ResponseTemplate};

const KEY: &str = "service_sk_test";

/// A client whose waits are too short to notice.
fn quick(base_url: &str) -> ClientBuilder {
    let policy = RetryPolicy::default()
        .max_attempts(3)
        .first_delay(Duration::from_millis(1))
        .max_delay(Duration::from_millis(2))
        .budget(Duration::from_secs(10));
    Client::builder(base_url, KEY).retry(policy)
}

fn client(server: &MockServer) -> Client {
    quick(&server.uri()).build().unwrap()
}

/// Answers everything with `answer`, the first `times` requests only if there is something after it.
async fn answering(server: &MockServer, answer: ResponseTemplate, times: Option<u64>) {
    let mock = Mock::given(any()).respond_with(answer);
    let mock = match times {
        Some(times) => mock.up_to_n_times(times),
        None => mock,
    };
    mock.mount(server).await;
}

async fn requests(server: &MockServer) -> Vec<wiremock::Request> {
    server.received_requests().await.unwrap()
}

fn id() -> OperationId {
    OperationId::new(1042).unwrap()
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

fn operation(status: &str) -> Value {
    json!({
        "id": 1042,
        "status": status,
        "externalReference": null,
        "payer": {"cnpj": "11222333000181", "name": "Construtora Exemplo S.A."},
        "supplier": {"cnpj": "12ABC34501DE35", "name": null},
        "invoice": {
            "amount": 1234.56, "dueDate": "2026-12-21", "number": "NF-1", "withheldTaxAmount": 0
        },
        "expiresAt": "2026-12-17T02:59:59.999Z",
        "createdAt": "2026-11-21T12:00:00.000Z"
    })
}

fn success(status: u16) -> ResponseTemplate {
    ResponseTemplate::new(status).set_body_json(operation("IN_PRE_AUTH"))
}

fn refusal(status: u16, code: &str) -> ResponseTemplate {
    let body = json!({"errors": [{"code": code, "message": "Uma frase."}]});
    ResponseTemplate::new(status).set_body_json(body)
}
