use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use wiremock::matchers::{header, method, path, query_param};
use wiremock::{Mock, MockServer, ResponseTemplate};

use crate::printed;

const COLLECTION: &str = "/api/integration/v1/pre-authorizations";

#[tokio::test]
async fn an_order_is_offered_looked_at_and_taken_back() {
    let service = service().await;
    creating(
        &service,
        ResponseTemplate::new(201).set_body_json(operation("IN_PRE_AUTH")),
    )
    .await;
    cancelling(
        &service,
        ResponseTemplate::new(201).set_body_json(operation("REPROVED")),
    )
    .await;
    assert_eq!(
        printed(&mut job(&service)),
        "\
order PED-2026-0042 is operation 1042
operation 1042 over 12500.5 reais is IN_PRE_AUTH
operations of order PED-2026-0042: 1
operation 1042 is REPROVED
"
    );
}

#[tokio::test]
async fn an_invoice_that_is_on_offer_already_is_a_success() {
    let service = service().await;
    let duplicate = json!({
        "errors": [{"code": "PRE_AUTH_DUPLICATE_INVOICE", "message": "Já existe."}],
        "details": [{"anticipationId": 1042}]
    });
    creating(
        &service,
        ResponseTemplate::new(409).set_body_json(duplicate),
    )
    .await;
    cancelling(
        &service,
        ResponseTemplate::new(201).set_body_json(operation("REPROVED")),
    )
    .await;
    let printed = printed(&mut job(&service));
    assert!(
        printed.starts_with("order PED-2026-0042 is operation 1042\n"),
        "{printed}"
    );
    assert!(
        printed.ends_with("operation 1042 is REPROVED\n"),
        "{printed}"
    );
}

#[tokio::test]
async fn a_supplier_who_was_faster_ends_the_job_well() {
    let service = service().await;
    creating(
        &service,
        ResponseTemplate::new(201).set_body_json(operation("IN_PRE_AUTH")),
    )
    .await;
    let requested = json!({
        "errors": [{"code": "PRE_AUTH_ALREADY_REQUESTED", "message": "Já solicitada."}]
    });
    cancelling(
        &service,
        ResponseTemplate::new(422).set_body_json(requested),
    )
    .await;
    let printed = printed(&mut job(&service));
    assert!(printed.ends_with("the supplier was faster\n"), "{printed}");
}

#[tokio::test]
async fn address_and_key_may_come_from_a_ready_file() {
    let service = service().await;
    creating(
        &service,
        ResponseTemplate::new(201).set_body_json(operation("IN_PRE_AUTH")),
    )
    .await;
    cancelling(
        &service,
        ResponseTemplate::new(201).set_body_json(operation("REPROVED")),
    )
    .await;
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ready-of-the-job.json");
    let ready = json!({"baseUrl": service.uri(), "apiKey": "service_sk_test"});
    std::fs::write(&file, ready.to_string()).unwrap();
    let mut job = Command::new(env!("CARGO_BIN_EXE_erp_job"));
    assert!(printed(job.arg(file)).contains("operation 1042"));
}

fn job(service: &MockServer) -> Command {
    let mut job = Command::new(env!("CARGO_BIN_EXE_erp_job"));
    job.env("PREAUTH_BASE_URL", service.uri())
        .env("PREAUTH_API_KEY", "service_sk_test");
    job
}

/// A service that knows operation 1042.
async fn service() -> MockServer {
    let service = MockServer::start().await;
    let list = json!({
        "data": [operation("IN_PRE_AUTH")],
        "pagination": {"page": 1, "limit": 20, "total": 1, "totalPages": 1}
    });
    Mock::given(method("GET"))
        .and(path(COLLECTION))
        .and(query_param("externalReference", "PED-2026-0042"))
        .respond_with(ResponseTemplate::new(200).set_body_json(list))
        .mount(&service)
        .await;
    Mock::given(method("GET"))
        .and(path(format!("{COLLECTION}/1042")))
        .respond_with(ResponseTemplate::new(200).set_body_json(operation("IN_PRE_AUTH")))
        .mount(&service)
        .await;
    service
}

async fn creating(service: &MockServer, answer: ResponseTemplate) {
    Mock::given(method("POST"))
        .and(path(COLLECTION))
        .and(header("authorization", "Bearer service_sk_test"))
        .and(header("idempotency-key", "erp-job:PED-2026-0042"))
        .respond_with(answer)
        .mount(service)
        .await;
}

async fn cancelling(service: &MockServer, answer: ResponseTemplate) {
    Mock::given(method("POST"))
        .and(path(format!("{COLLECTION}/1042/cancel")))
        .respond_with(answer)
        .mount(service)
        .await;
}

fn operation(status: &str) -> Value {
    json!({
        "id": 1042,
        "status": status,
        "externalReference": "PED-2026-0042",
        "payer": {"cnpj": "11222333000181", "name": "Construtora Exemplo S.A."},
        "supplier": {"cnpj": "11444777000161", "name": "Fornecedor Exemplo Ltda."},
        "invoice": {
            "amount": 12500.5, "dueDate": "2026-12-21", "number": "NF-PED-2026-0042",
            "withheldTaxAmount": 0
        },
        "expiresAt": "2026-12-17T02:59:59.999Z",
        "createdAt": "2026-11-21T12:00:00.000Z"
    })
}
