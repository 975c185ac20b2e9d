//! The CSV file of a list that changes while it is read.

use std::collections::BTreeSet;

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use serde_json::json;
use test_support::{Backend, RawCaller, Sandbox, due_date, on_each_database};

use crate::browser::browser;
use crate::lists_of_companies::post;

on_each_database! {
    a_file_has_each_row_once_while_the_list_grows,
}

/// More than one request of the file has.
const BEFORE: usize = 250;
/// Offers that are made while it is read, within the key's limit of requests.
const MEANWHILE: usize = 60;

async fn offers(caller: &RawCaller, sandbox: &Sandbox) {
    for number in 0..MEANWHILE {
        let body = test_support::offer_body(sandbox, &format!("NF-{number}"));
        let made = caller.post_json(PRE_AUTHORIZATIONS, &body).await;
        assert_eq!(made.status, 201, "{}", made.text);
    }
}

async fn a_file_has_each_row_once_while_the_list_grows(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let company = sandbox.company().await;
    let mut before = BTreeSet::new();
    for number in 0..BEFORE {
        let advance = json!({
            "payerCompanyId": company,
            "supplierCnpj": sandbox.text("supplierCnpj"),
            "invoice": {"amount": 980, "dueDate": due_date(60), "number": format!("D-{number}")},
        });
        let made = post(&sandbox, "operations", &advance).await;
        before.insert(made["id"].to_string());
    }
    let mut browser = browser(&sandbox).await;
    let caller = sandbox.caller("apiKey");
    let (file, ()) = tokio::join!(
        browser.get("/console/operations.csv"),
        offers(&caller, &sandbox)
    );
    let lines = file.text.lines().skip(1);
    let ids = lines.map(|line| {
        let (id, _) = line.split_once(',').unwrap();
        id.trim_matches('"').to_owned()
    });
    let ids: Vec<_> = ids.collect();
    let distinct: BTreeSet<_> = ids.iter().cloned().collect();
    assert_eq!(distinct.len(), ids.len(), "a row is there twice");
    assert!(distinct.is_superset(&before), "a row is missing");
}
