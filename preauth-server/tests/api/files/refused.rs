//! A create that is refused or interrupted leaves no file.

use std::sync::Arc;

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use serde_json::{Value, json};
use test_support::{Backend, Form, Sandbox, due_date, offer_body, on_each_database, with};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::task::JoinSet;

use super::{PDF, begin_upload, files_in, operations, pdf, post};

on_each_database! {
    a_client_that_stops_in_the_middle_leaves_nothing,
    a_kill_in_the_middle_leaves_nothing,
    a_full_disk_creates_nothing_leaves_nothing_and_the_next_request_works,
    a_place_that_fails_creates_nothing_and_may_come_back,
    a_refused_create_keeps_no_file,
    of_creates_with_a_file_for_one_invoice_only_one_keeps_it,
}

async fn a_client_that_stops_in_the_middle_leaves_nothing(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let mut stream = begin_upload(&sandbox, "NF-1").await;
    stream.write_all(&pdf(5 * 1024 * 1024)).await.unwrap();
    drop(stream);
    // A client that closes only its sending side gets an answer: the body was interrupted.
    let mut stream = begin_upload(&sandbox, "NF-1").await;
    stream.write_all(&pdf(1024 * 1024)).await.unwrap();
    stream.shutdown().await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    assert!(answer.contains("BAD_REQUEST"), "{answer}");
    assert_eq!(operations(&sandbox).await, 0);
    assert_eq!(sandbox.names_in("uploads"), Vec::<String>::new());
    assert_eq!(sandbox.names_in("invoice-files"), Vec::<String>::new());
    assert_eq!(post(&sandbox, "NF-1", &pdf(1000)).await.status, 201);
}

async fn a_kill_in_the_middle_leaves_nothing(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let mut stream = begin_upload(&sandbox, "NF-1").await;
    stream.write_all(&pdf(5 * 1024 * 1024)).await.unwrap();
    let sandbox = Sandbox::start_in(sandbox.kill(), &[]).await;
    assert_eq!(operations(&sandbox).await, 0);
    assert_eq!(sandbox.names_in("uploads"), Vec::<String>::new());
    assert_eq!(post(&sandbox, "NF-1", &pdf(1000)).await.status, 201);
}

async fn a_full_disk_creates_nothing_leaves_nothing_and_the_next_request_works(backend: Backend) {
    let sandbox = Sandbox::start_on_a_small_disk(backend, 6 * 1024).await;
    let refused = post(&sandbox, "NF-1", &pdf(8 * 1024 * 1024)).await;
    assert_eq!(refused.refusal(), (500, "INTERNAL_ERROR".to_owned()));
    assert!(
        sandbox.log().contains("could not be kept"),
        "{}",
        sandbox.log()
    );
    assert_eq!(operations(&sandbox).await, 0);
    assert_eq!(sandbox.names_in("uploads"), Vec::<String>::new());
    assert_eq!(sandbox.names_in("invoice-files"), Vec::<String>::new());
    let created = post(&sandbox, "NF-1", &pdf(100_000)).await;
    assert_eq!(created.status, 201, "{}", created.text);
}

async fn a_place_that_fails_creates_nothing_and_may_come_back(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let place = sandbox.data().join("invoice-files");
    let away = sandbox.data().join("away");
    std::fs::rename(&place, &away).unwrap();
    std::fs::write(&place, "no folder").unwrap();
    let refused = post(&sandbox, "NF-1", &pdf(1000)).await;
    assert_eq!(refused.refusal(), (500, "INTERNAL_ERROR".to_owned()));
    assert_eq!(operations(&sandbox).await, 0);
    std::fs::remove_file(&place).unwrap();
    std::fs::rename(&away, &place).unwrap();
    let created = post(&sandbox, "NF-1", &pdf(1000)).await;
    assert_eq!(created.status, 201, "{}", created.text);
    // A missing file is an internal error, never the caller's.
    std::fs::remove_dir_all(&place).unwrap();
    let id = &created.json()["id"];
    let path = format!("/api/platform/v1/operations/{id}/invoice-file");
    let file = sandbox.platform().get(&path).await;
    assert_eq!(file.refusal(), (500, "INTERNAL_ERROR".to_owned()));
}

#[expect(clippy::too_many_lines, reason = "one story")]
async fn a_refused_create_keeps_no_file(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let erp = sandbox.caller("apiKey");
    let send = async |body: &Value, key: &str, name: &str, length: usize| {
        let form = Form::of(body).file(name, PDF, &pdf(length));
        let key = [("idempotency-key", key)];
        erp.post_form(PRE_AUTHORIZATIONS, &key, form).await
    };
    let good = offer_body(&sandbox, "NF-1");
    let first = send(&good, "pedido-0001", "nota.pdf", 1_000).await;
    assert_eq!(first.status, 201, "{}", first.text);
    let kept = files_in(&sandbox);
    assert_eq!(kept.len(), 1);
    let other = offer_body(&sandbox, "NF-2");
    let company = json!(sandbox.text("companyCnpj"));
    let cases = [
        (good.clone(), "pedido-0002", "PRE_AUTH_DUPLICATE_INVOICE"),
        (good.clone(), "pedido-0001", "IDEMPOTENCY_KEY_REUSED"),
        (other.clone(), "pedido", "IDEMPOTENCY_KEY_INVALID"),
        (
            with(other.clone(), "/invoice/amount", json!(1)),
            "pedido-0003",
            "VALIDATION_ERROR",
        ),
        (
            with(
                other.clone(),
                "/invoice/dueDate",
                json!(due_date(2).to_string()),
            ),
            "pedido-0004",
            "ANTICIPATION_INVALID_DUE_DATE",
        ),
        (
            with(other.clone(), "/supplier/cnpj", company),
            "pedido-0005",
            "PRE_AUTH_SUPPLIER_SELF",
        ),
        (
            with(other.clone(), "/invoice/amount", json!(9_999_999)),
            "pedido-0006",
            "CREDIT_ANALYSIS_INVOICE_AMOUNT_EXCEEDED",
        ),
        (
            with(
                other.clone(),
                "/invoice/number",
                json!("sandbox:PRE_AUTH_SUPPLIER_BLOCKED"),
            ),
            "pedido-0007",
            "PRE_AUTH_SUPPLIER_BLOCKED",
        ),
    ];
    sandbox.limit_credit(180, 1_000_000).await;
    for (length, (body, key, code)) in (2_000..).zip(&cases) {
        let refused = send(body, key, "nota.pdf", length).await;
        assert_eq!(refused.code(), *code, "{}", refused.text);
    }
    for caller in ["branchApiKey", "readOnlyApiKey", "revokedApiKey"] {
        let form = Form::of(&other).file("nota.pdf", PDF, &pdf(3_000));
        let refused = sandbox
            .caller(caller)
            .post_form(PRE_AUTHORIZATIONS, &[], form)
            .await;
        assert!([401, 403].contains(&refused.status), "{caller}");
    }
    assert_eq!(files_in(&sandbox), kept);
    assert_eq!(sandbox.names_in("uploads"), Vec::<String>::new());
    let replayed = send(&good, "pedido-0001", "nota.pdf", 1_000).await;
    assert_eq!(replayed.text, first.text);
    assert_eq!(
        send(&other, "pedido-0008", "nota.pdf", 4_000).await.status,
        201
    );
    assert_eq!(files_in(&sandbox).len(), 2);
}

async fn of_creates_with_a_file_for_one_invoice_only_one_keeps_it(backend: Backend) {
    let sandbox = Arc::new(Sandbox::start(backend).await);
    let mut creates = JoinSet::new();
    for length in 1_000..1_020 {
        let sandbox = Arc::clone(&sandbox);
        creates.spawn(async move { post(&sandbox, "NF-1", &pdf(length)).await.status });
    }
    let mut statuses = creates.join_all().await;
    statuses.sort_unstable();
    assert_eq!(statuses.remove(0), 201);
    assert!(statuses.iter().all(|status| *status == 409), "{statuses:?}");
    assert_eq!(files_in(&sandbox).len(), 1);
}
