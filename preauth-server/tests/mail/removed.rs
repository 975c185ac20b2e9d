//! Mails that became files go with their records.

use std::path::{Path, PathBuf};

use preauth_client::wire::path::cancel;
use serde_json::json;
use test_support::{
    Backend, Sandbox, offer_body,
    office::{kept, mail_of, offer, offer_as, until_true},
    on_each_database,
    travel::{DAY, advance},
};

on_each_database! {
    a_file_goes_when_its_mail_is_older_than_the_retention,
    an_erasure_removes_the_files_of_the_mails_to_the_company,
}

const HOUR: u64 = 3_600;

/// The file of the mail about an operation, once it is written.
async fn file_of(sandbox: &Sandbox, operation: i64) -> PathBuf {
    until_true("it is sent", async || {
        mail_of(sandbox, operation).await["status"] == "SENT"
    })
    .await;
    kept(sandbox, &mail_of(sandbox, operation).await)
}

/// Lets hours pass until the file is gone.
async fn until_gone(sandbox: &Sandbox, file: &Path) {
    assert!(file.exists());
    until_true("the file is removed", async || {
        advance(sandbox, HOUR).await;
        !file.exists()
    })
    .await;
}

async fn a_file_goes_when_its_mail_is_older_than_the_retention(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let first = offer(&sandbox, "NF-1", "a@fornecedor.example.com").await;
    let first = file_of(&sandbox, first).await;
    let foreign = first.with_file_name("notes.eml");
    std::fs::write(&foreign, "not a mail of the service").unwrap();
    advance(&sandbox, 20 * DAY).await;
    let second = offer(&sandbox, "NF-2", "a@fornecedor.example.com").await;
    let second = file_of(&sandbox, second).await;
    advance(&sandbox, 10 * DAY).await;
    until_gone(&sandbox, &first).await;
    assert!(second.exists() && foreign.exists());
}

async fn an_erasure_removes_the_files_of_the_mails_to_the_company(backend: Backend) {
    const CNPJ: &str = "33444555000181";
    let sandbox = Sandbox::start(backend).await;
    let mut body = offer_body(&sandbox, "NF-1");
    body["supplier"] = json!({
        "cnpj": CNPJ, "name": "Fornecedora Lima Ltda.", "contactName": "Bruno Lima",
        "email": "bruno@fornecedor.example.com",
    });
    let erased = offer_as(&sandbox, &body).await;
    let other = offer(&sandbox, "NF-2", "a@fornecedor.example.com").await;
    let other = file_of(&sandbox, other).await;
    let file = file_of(&sandbox, erased).await;
    let path = cancel(erased.to_string().parse().unwrap());
    let cancelled = sandbox.caller("apiKey").post(&path).await;
    assert_eq!(cancelled.status, 201, "{}", cancelled.text);
    let path = format!("/api/platform/v1/personal-data/{CNPJ}/erasure");
    let erasure = sandbox.platform().post(&path).await;
    assert_eq!(erasure.status, 200, "{}", erasure.text);
    until_gone(&sandbox, &file).await;
    assert!(other.exists());
}
