use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use wiremock::matchers::{header, method, path, query_param};
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

use crate::{complained, printed};

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
        printed.starts_with("order PED-2026-0042 is operation 1042, which was there already\n"),
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

#[tokio::test]
async fn a_second_run_says_that_the_first_one_made_the_offer() {
    let service = service().await;
    let replay = ResponseTemplate::new(201)
        .set_body_json(operation("IN_PRE_AUTH"))
        .insert_header("idempotency-replayed", "true");
    creating(&service, replay).await;
    cancelling(
        &service,
        ResponseTemplate::new(201).set_body_json(operation("REPROVED")),
    )
    .await;
    let printed = printed(&mut job(&service));
    assert!(
        printed.starts_with("order PED-2026-0042 is operation 1042, as this job did before\n"),
        "{printed}"
    );
}

#[tokio::test]
async fn a_refusal_is_told_in_one_line() {
    let service = service().await;
    let refusal = json!({"errors": [{"code": "PRE_AUTH_SUPPLIER_BLOCKED", "message": "Não."}]});
    creating(&service, ResponseTemplate::new(422).set_body_json(refusal)).await;
    assert_eq!(
        complained(&mut job(&service)),
        "error: the service refused (status 422): PRE_AUTH_SUPPLIER_BLOCKED \"Não.\"\n"
    );
}

#[test]
fn a_ready_file_that_is_missing_or_wrong_is_named() {
    let run = |file: &Path| complained(Command::new(env!("CARGO_BIN_EXE_erp_job")).arg(file));
    let said = run(Path::new("nowhere/ready.json"));
    assert!(
        said.starts_with("error: ready file nowhere/ready.json: "),
        "{said}"
    );
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ready-without-address.json");
    std::fs::write(&file, "{}").unwrap();
    let said = run(&file);
    assert!(
        said.ends_with("ready-without-address.json: no text in baseUrl\n"),
        "{said}"
    );
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
        .and(keyed_by_what_is_offered)
        .respond_with(answer)
        .mount(service)
        .await;
}

/// The same offer must always come under the same key, and another one never.
fn keyed_by_what_is_offered(request: &Request) -> bool {
    let body: Value = request.body_json().unwrap();
    let due_date = body.pointer("/invoice/dueDate").and_then(Value::as_str);
    let key = format!("erp-job:PED-2026-0042:1:{}", due_date.unwrap());
    let sent = request.headers.get("idempotency-key");
    sent.is_some_and(|sent| sent == key.as_str())
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
