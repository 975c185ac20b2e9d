//! Careless and hostile requests, row by row; none of them may change anything.

mod row;
mod validation;

use preauth_client::wire::path::PRE_AUTHORIZATIONS;

use crate::support::{Backend, Sandbox, exchange, offer_body, with};

use row::Table;
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

async fn keys_that_are_no_keys(backend: Backend) {
    send_all(backend, include_str!("../../vectors/bad_inputs/auth.toml")).await;
}

async fn requests_that_are_no_http(backend: Backend) {
    send_all(backend, include_str!("../../vectors/bad_inputs/http.toml")).await;
}

async fn bodies_that_are_no_json(backend: Backend) {
    send_all(backend, include_str!("../../vectors/bad_inputs/json.toml")).await;
}

async fn numbers_out_of_bounds(backend: Backend) {
    send_all(
        backend,
        include_str!("../../vectors/bad_inputs/numbers.toml"),
    )
    .await;
}

async fn texts_out_of_bounds(backend: Backend) {
    send_all(backend, include_str!("../../vectors/bad_inputs/texts.toml")).await;
}

async fn idempotency_keys_that_are_none(backend: Backend) {
    send_all(
        backend,
        include_str!("../../vectors/bad_inputs/idempotency.toml"),
    )
    .await;
}

async fn queries_that_could_be_misread(backend: Backend) {
    send_all(backend, include_str!("../../vectors/bad_inputs/lists.toml")).await;
}

async fn ids_that_nobody_has(backend: Backend) {
    send_all(backend, include_str!("../../vectors/bad_inputs/ids.toml")).await;
}

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
