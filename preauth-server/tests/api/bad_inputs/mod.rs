//! Careless and hostile requests, row by row; none of them may change anything.

mod row;
mod validation;

use preauth_client::wire::path::PRE_AUTHORIZATIONS;

use row::Table;
use test_support::{Backend, Sandbox, exchange, offer_body, on_each_database, with};
use validation::complaints;

on_each_database! {
    keys_that_are_no_keys,
    requests_that_are_no_http,
    bodies_that_are_no_json,
    numbers_out_of_bounds,
    texts_out_of_bounds,
    idempotency_keys_that_are_none,
    queries_that_could_be_misread,
    ids_that_nobody_has,
    forms_that_are_broken_and_files_that_are_none,
}

// Contract: every-call/Authorization authentication/key error-code/API_KEY_INVALID
async fn keys_that_are_no_keys(backend: Backend) {
    send_all(backend, include_str!("../../vectors/bad_inputs/auth.toml")).await;
}

// Contract: service/four-operations service/JSON every-call/X-Request-Id every-call/errors
// Contract: create-call/Content-Type cancel-call/no-body error-code/BAD_REQUEST
// Contract: error-code-of-ours/NOT_FOUND error-code-of-ours/METHOD_NOT_ALLOWED version/v1
async fn requests_that_are_no_http(backend: Backend) {
    send_all(backend, include_str!("../../vectors/bad_inputs/http.toml")).await;
}

// Contract: service/JSON create-body/supplier create-body/invoice
// Contract: error-code-of-ours/PAYLOAD_TOO_LARGE
async fn bodies_that_are_no_json(backend: Backend) {
    send_all(backend, include_str!("../../vectors/bad_inputs/json.toml")).await;
}

// Contract: operation/invoice.amount create-body/invoice.amount
// Contract: create-body/invoice.withheldTaxAmount limit/amount limit/withheld-tax
async fn numbers_out_of_bounds(backend: Backend) {
    send_all(
        backend,
        include_str!("../../vectors/bad_inputs/numbers.toml"),
    )
    .await;
}

// Contract: service/days operation/supplier.cnpj create-body/supplier.cnpj
// Contract: create-body/supplier.email create-body/supplier.name create-body/supplier.contactName
// Contract: create-body/supplier.phone create-body/invoice.dueDate create-body/invoice.number
// Contract: create-body/externalReference error-body/errors[].message
// Contract: error-code/PRE_AUTH_SUPPLIER_NAME_REQUIRED limit/lengths
async fn texts_out_of_bounds(backend: Backend) {
    send_all(backend, include_str!("../../vectors/bad_inputs/texts.toml")).await;
}

// Contract: create-call/Idempotency-Key error-code-of-ours/IDEMPOTENCY_KEY_INVALID
// Contract: limit/idempotency-key
async fn idempotency_keys_that_are_none(backend: Backend) {
    send_all(
        backend,
        include_str!("../../vectors/bad_inputs/idempotency.toml"),
    )
    .await;
}

// Contract: list/pagination.page list/pagination.limit error-body/errors[].message
// Contract: list-call/externalReference list-call/status list-call/page list-call/limit
// Contract: list-call/400 error-code/VALIDATION_ERROR limit/page-size
async fn queries_that_could_be_misread(backend: Backend) {
    send_all(backend, include_str!("../../vectors/bad_inputs/lists.toml")).await;
}

// Contract: get-call/400 get-call/404 cancel-call/400 cancel-call/404
// Contract: error-code/ANTICIPATION_NOT_FOUND
async fn ids_that_nobody_has(backend: Backend) {
    send_all(backend, include_str!("../../vectors/bad_inputs/ids.toml")).await;
}

// Contract: create-file/* error-code/BAD_REQUEST error-code/FILE_TOO_LARGE
// Contract: error-code/INVALID_FILE_TYPE error-code/INVOICE_FILE_TYPE
// Contract: error-code/INVOICE_FILE_NAME_TOO_LONG limit/invoice-file
async fn forms_that_are_broken_and_files_that_are_none(backend: Backend) {
    send_all(
        backend,
        include_str!("../../vectors/bad_inputs/multipart.toml"),
    )
    .await;
}

/// Sends every row of a table and reports all failures together.
async fn send_all(backend: Backend, table: &str) {
    let table: Table = toml::from_str(table).unwrap();
    let sandbox = Sandbox::start(backend).await;
    let body = with(
        offer_body(&sandbox, "NF-UNDER-WAY"),
        "/externalReference",
        "P-0".into(),
    );
    let key = [("idempotency-key", "pedido-0001")];
    let first = sandbox
        .caller("apiKey")
        .post_text(PRE_AUTHORIZATIONS, &key, body.to_string())
        .await;
    assert_eq!(first.status, 201, "{}", first.text);
    let mut wrong = Vec::new();
    let mut before = State::of(&sandbox).await;
    for (index, row) in table.row.iter().enumerate() {
        let request = row.bytes(&sandbox, &format!("NF-{index}"));
        let answer = exchange(sandbox.text("baseUrl"), &request).await;
        let after = State::of(&sandbox).await;
        let mut found = complaints(row, answer.as_ref());
        if row.answer.starts_with("201") {
            if after.operations != before.operations + 1 {
                found.push("it created nothing, or too much".to_owned());
            }
        } else if after != before {
            found.push(format!("it changed something: {before:?}, {after:?}"));
        }
        before = after;
        wrong.extend(
            found
                .into_iter()
                .map(|complaint| format!("{}: {complaint}", row.what)),
        );
    }
    assert!(
        wrong.is_empty(),
        "{} rows of {} went wrong:\n{}",
        wrong.len(),
        table.row.len(),
        wrong.join("\n")
    );
}

/// State that a refused request must not change.
#[derive(Debug, PartialEq, Eq)]
struct State {
    operations: u64,
    companies: u64,
    /// The newest operations, complete.
    newest: String,
    /// The operation created at the start, with its history.
    first: String,
}

impl State {
    async fn of(sandbox: &Sandbox) -> Self {
        let platform = sandbox.platform();
        let operations = platform.get("/api/platform/v1/operations?limit=3").await;
        let companies = platform.get("/api/platform/v1/companies?limit=1").await;
        let total = |list: serde_json::Value| list["pagination"]["total"].as_u64().unwrap();
        Self {
            operations: total(operations.json()),
            companies: total(companies.json()),
            newest: operations.text,
            first: platform.get("/api/platform/v1/operations/1").await.text,
        }
    }
}
