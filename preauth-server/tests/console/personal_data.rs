//! Personal data: shown, downloaded, and erased by administrators who type whose.

use preauth_client::wire::path::{PRE_AUTHORIZATIONS, cancel};
use preauth_server::http::platform::PREFIX;
use serde_json::{Value, json};
use test_support::{Backend, Sandbox, on_each_database};

use crate::browser::{Browser, browser};

on_each_database! {
    personal_data_is_shown_downloaded_and_erased,
    nothing_is_erased_by_mistake_or_while_an_operation_is_in_progress,
    only_administrators_erase,
}

const CNPJ: &str = "33444555000181";
const CONTACT: &str = "bruno@fornecedor.example.com";
const PAGE: &str = "/console/personal-data/33444555000181";
const ERASE: &str = "/console/personal-data/33444555000181/erase";

/// Offers to a supplier with a contact; returns the operation's id.
async fn offered(sandbox: &Sandbox) -> i64 {
    let mut offer = test_support::offer_body(sandbox, "NF-1");
    offer["supplier"] = json!({
        "cnpj": CNPJ,
        "name": "Fornecedora Lima Ltda.",
        "contactName": "Bruno <b>Lima</b>",
        "email": CONTACT,
    });
    let caller = sandbox.caller("apiKey");
    let answer = caller.post_json(PRE_AUTHORIZATIONS, &offer).await;
    assert_eq!(answer.status, 201, "{}", answer.text);
    answer.json()["id"].as_i64().unwrap()
}

async fn cancelled(sandbox: &Sandbox, operation: i64) {
    let path = cancel(operation.to_string().parse().unwrap());
    let done = sandbox.caller("apiKey").post(&path).await;
    assert_eq!(done.status, 201, "{}", done.text);
}

async fn read(sandbox: &Sandbox, path: &str) -> Value {
    let answer = sandbox.platform().get(&format!("{PREFIX}/{path}")).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.text);
    answer.json()
}

async fn personal_data_is_shown_downloaded_and_erased(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let mut browser = browser(&sandbox).await;
    cancelled(&sandbox, offered(&sandbox).await).await;
    let found = read(&sandbox, &format!("companies?cnpj={CNPJ}")).await;
    let company = found["data"][0]["id"].as_str().unwrap();
    let page = browser.page(&format!("/console/companies/{company}")).await;
    assert!(page.contains(&format!("href=\"{PAGE}\"")), "{page}");
    let page = browser.page(PAGE).await;
    for link in ["export", "erase"] {
        assert!(page.contains(&format!("href=\"{PAGE}/{link}\"")), "{page}");
    }
    let copy = browser.get(&format!("{PAGE}/export")).await;
    assert_eq!(copy.status, 200, "{}", copy.text);
    assert!(copy.header("content-type").starts_with("application/json"));
    assert_eq!(
        copy.header("content-disposition"),
        format!("attachment; filename=\"personal-data-{CNPJ}.json\"")
    );
    assert_eq!(copy.json()["contacts"][0]["contact"]["email"], CONTACT);

    let form = browser.page(ERASE).await;
    assert!(form.contains("This cannot be undone."), "{form}");
    assert!(form.contains("name=\"confirmation\""), "{form}");
    // With its mask, as people write it.
    let fields = [("confirmation", "33.444.555/0001-81")];
    let done = browser.submit(ERASE, &fields).await;
    assert_eq!(done.status, 303, "{}", done.text);
    assert_eq!(done.header("location"), format!("{PAGE}?done=1"));
    let page = browser.page(done.header("location")).await;
    assert!(page.contains("root"), "{page}");
    let erased = read(&sandbox, &format!("personal-data/{CNPJ}")).await;
    assert_eq!(erased["contacts"], 0);
    assert!(erased["erasures"][0]["completedAt"].is_string());
    let log = read(&sandbox, "audit-log?operator=root").await;
    let log = log["data"].as_array().unwrap();
    let is_erasure = |row: &&Value| row["action"] == "erasePersonalData";
    let rows: Vec<_> = log.iter().filter(is_erasure).collect();
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!(rows[0]["outcome"], "DONE");
    let missing = browser.get("/console/personal-data/45723001000100").await;
    assert_eq!(missing.status, 404, "{}", missing.text);
}

async fn nothing_is_erased_by_mistake_or_while_an_operation_is_in_progress(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let mut browser = browser(&sandbox).await;
    let operation = offered(&sandbox).await;
    for (language, words) in [
        ("en", "while an operation of the company is in progress"),
        ("pt-BR", "enquanto a empresa tiver operação em andamento"),
    ] {
        browser.language = language;
        let page = browser.page(PAGE).await;
        assert!(page.contains(words), "{page}");
        assert!(!page.contains(&format!("href=\"{ERASE}\"")), "{page}");
        let refused = browser.submit(ERASE, &[("confirmation", CNPJ)]).await;
        assert_eq!(refused.status, 409, "{}", refused.text);
        let says = match language {
            "en" => "while the company has an operation in progress",
            _ => words,
        };
        assert!(refused.text.contains(says), "{}", refused.text);
    }
    browser.language = "en";
    cancelled(&sandbox, operation).await;
    for typed in ["", "yes", "11222333000181", "33444555000181 x"] {
        let refused = browser.submit(ERASE, &[("confirmation", typed)]).await;
        assert_eq!(refused.status, 400, "{typed}: {}", refused.text);
        let text = &refused.text;
        assert!(text.contains("Nothing was done"), "{typed}: {text}");
    }
    let kept = read(&sandbox, &format!("personal-data/{CNPJ}")).await;
    assert_eq!(
        (&kept["contacts"], &kept["erasures"]),
        (&json!(1), &json!([]))
    );
    let log = read(&sandbox, "audit-log?operator=root").await;
    let log = log.to_string();
    assert!(!log.contains("title=\"erasePersonalData\""), "{log}");
}

async fn only_administrators_erase(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    cancelled(&sandbox, offered(&sandbox).await).await;
    for (name, role) in [("Vera", "VIEWER"), ("Otto", "OPERATOR")] {
        let body = json!({"name": name, "role": role});
        let platform = sandbox.platform();
        let added = platform
            .post_json(&format!("{PREFIX}/operators"), &body)
            .await
            .json();
        let token = added["token"].as_str().unwrap();
        let mut browser = Browser::signed_in(sandbox.text("platformUrl"), token).await;
        let page = browser.page(PAGE).await;
        assert!(!page.contains("/erase"), "{page}");
        let form = browser.get(ERASE).await;
        assert_eq!(form.status, 403, "{}", form.text);
        for typed in [CNPJ, ""] {
            let fields = [("confirmation", typed)];
            let refused = browser.submit_again(&page, ERASE, &fields).await;
            assert_eq!(refused.status, 403, "{}", refused.text);
        }
        let log = read(&sandbox, &format!("audit-log?operator={name}")).await;
        let rows = log["data"].as_array().unwrap();
        // The same refusal leaves one row a minute.
        assert_eq!(rows.len(), 1, "{log}");
        assert_eq!(rows[0]["outcome"], "FORBIDDEN");
        assert_eq!(rows[0]["action"], "erasePersonalData");
    }
    let kept = read(&sandbox, &format!("personal-data/{CNPJ}")).await;
    assert_eq!(kept["contacts"], 1);
}
