//! Branches, invitations, received invoices and master keys.

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use preauth_server::http::platform::PREFIX;
use serde_json::json;
use test_support::{Backend, Sandbox, on_each_database};

use crate::browser::browser;

on_each_database! {
    a_branch_is_registered_from_its_head_office,
    an_invited_supplier_shows_what_companies_call_it,
    a_received_invoice_is_recorded_listed_and_shown,
    secrets_are_encrypted_anew,
}

async fn a_branch_is_registered_from_its_head_office(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let mut browser = browser(&sandbox).await;
    let company = sandbox.company().await;
    let path = format!("/console/companies/{company}");
    let page = browser.page(&path).await;
    assert!(page.contains(&format!("{path}/branches\"")), "{page}");
    let form = browser.page(&format!("{path}/new-branch")).await;
    assert!(form.contains(&format!("value=\"{company}\"")), "{form}");
    assert!(form.contains("value=\"CONSTRUCTION\" selected"), "{form}");
    let fields = [
        ("cnpj", "11.222.333/0003-43"),
        ("name", "Filial <b>Sul</b>"),
        ("kind", "CONSTRUCTION"),
        ("headOfficeId", company.as_str()),
    ];
    let refused = browser
        .submit(&format!("{path}/new-branch"), &[("cnpj", "1")])
        .await;
    assert_eq!(refused.status, 400, "{}", refused.text);
    let added = browser.submit(&format!("{path}/new-branch"), &fields).await;
    assert_eq!(added.status, 303, "{}", added.text);
    assert_eq!(added.header("location"), format!("{path}/branches?done=1"));
    let list = browser.page(&format!("{path}/branches")).await;
    assert!(list.contains("Filial &#60;b&#62;Sul"), "{list}");
    assert!(list.contains("2 in all"), "{list}");
    let file = browser.get(&format!("{path}/branches.csv")).await;
    assert_eq!(file.text.lines().count(), 3, "{}", file.text);
    assert!(file.text.contains("\"Filial <b>Sul</b>\""), "{}", file.text);
    // Who did it stands in the audit log.
    let log = browser.page("/console/log").await;
    assert!(log.contains("title=\"addCompany\""), "{log}");
}

async fn an_invited_supplier_shows_what_companies_call_it(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let mut browser = browser(&sandbox).await;
    let mut offer = test_support::offer_body(&sandbox, "NF-1");
    offer["supplier"] = json!({
        "cnpj": "33444555000181",
        "name": "Fornecedora <i>Certa</i>",
        "contactName": "Bruno Lima",
        "email": "bruno@certa.example.com",
    });
    let caller = sandbox.caller("apiKey");
    let offered = caller.post_json(PRE_AUTHORIZATIONS, &offer).await;
    assert_eq!(offered.status, 201, "{}", offered.text);
    let sought = format!("{PREFIX}/companies?cnpj=33444555000181");
    let found = sandbox.platform().get(&sought).await.json();
    let id = found["data"][0]["id"].as_str().unwrap();
    let company = sandbox.company().await;
    browser.language = "pt-BR";
    for path in ["", "/invitations"] {
        let page = browser
            .page(&format!("/console/companies/{id}{path}"))
            .await;
        assert!(page.contains("Convites"), "{page}");
        assert!(page.contains("Fornecedora &#60;i&#62;Certa"), "{page}");
        assert!(page.contains("bruno@certa.example.com"), "{page}");
        let by = format!("href=\"/console/companies/{company}\"");
        assert!(page.contains(&by), "{page}");
    }
    let file = format!("/console/companies/{id}/invitations.csv");
    let file = browser.get(&file).await;
    assert_eq!(file.text.lines().count(), 2, "{}", file.text);
    assert!(file.text.contains("\"Construtora Exemplo S.A.\""));

    // The first thing that can be done is to register it, under the CNPJ that is known.
    let home = format!("/console/companies/{id}");
    let page = browser.page(&home).await;
    let first = page.split("class=\"button").nth(1).unwrap();
    let register = format!("{home}/register");
    assert!(first.contains(&format!("href=\"{register}\"")), "{page}");
    let form = browser.page(&register).await;
    assert!(form.contains("value=\"33444555000181\""), "{form}");
    let fields = [
        ("cnpj", "33444555000181"),
        ("name", "Fornecedora Certa Ltda."),
        ("kind", "SUPPLIER"),
    ];
    let done = browser.submit_again(&form, &register, &fields).await;
    assert_eq!(done.status, 303, "{}", done.text);
    assert_eq!(done.header("location"), format!("{home}?done=1"));
    let page = browser.page(&home).await;
    assert!(page.contains("<h1>Fornecedora Certa Ltda.</h1>"), "{page}");
    assert!(!page.contains(&register), "{page}");
}

async fn a_received_invoice_is_recorded_listed_and_shown(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let mut browser = browser(&sandbox).await;
    let fields = [
        ("payerCompanyId", sandbox.text("companyCnpj")),
        ("supplierCnpj", sandbox.text("supplierCnpj")),
        ("invoice.amount", "1,234.56"),
        ("invoice.dueDate", "2027-01-20"),
        ("invoice.number", "NF-<b>77</b>"),
    ];
    let form = browser.page("/console/new-invoice").await;
    let first = browser
        .submit_again(&form, "/console/new-invoice", &fields)
        .await;
    assert_eq!(first.status, 303, "{}", first.text);
    let again = browser
        .submit_again(&form, "/console/new-invoice", &fields)
        .await;
    assert_eq!(again.header("location"), first.header("location"));
    let page = browser.page(first.header("location")).await;
    for text in ["NF-&#60;b&#62;77", "BRL\u{a0}1,234.56", "2027-01-20"] {
        assert!(page.contains(text), "{text}: {page}");
    }
    let list = browser.page("/console/invoices").await;
    assert_eq!(list.matches("NF-&#60;b&#62;77").count(), 1, "{list}");
    let file = browser.get("/console/invoices.csv").await;
    assert!(file.text.contains("\"NF-<b>77</b>\""), "{}", file.text);
    let missing = browser.get("/console/invoices/999999").await;
    assert_eq!(missing.status, 404, "{}", missing.text);
}

async fn secrets_are_encrypted_anew(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let mut browser = browser(&sandbox).await;
    let health = browser.page("/console/health").await;
    assert!(health.contains("href=\"/console/master-keys\""), "{health}");
    let page = browser.page("/console/master-keys").await;
    let keys = format!("{PREFIX}/master-keys");
    let keys = sandbox.platform().get(&keys).await.json();
    let active = keys["active"].as_str().unwrap();
    assert!(page.contains(active), "{page}");
    let done = browser.submit("/console/master-keys/reencrypt", &[]).await;
    assert_eq!(done.status, 303, "{}", done.text);
    assert_eq!(done.header("location"), "/console/master-keys?done=1");
    let log = browser.page("/console/log").await;
    assert!(log.contains("title=\"reencryptSecrets\""), "{log}");
}
