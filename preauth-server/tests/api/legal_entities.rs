//! The root of a CNPJ identifies a legal entity: its branches are the company itself.

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use preauth_core::value::Cnpj;
use reqwest::Method;
use serde_json::{Value, json};
use test_support::{Answer, Backend, Sandbox, due_date, offer_body, on_each_database, with};

on_each_database! {
    a_company_does_not_deal_with_a_branch_of_its_own,
    a_blocked_supplier_does_not_come_back_as_a_branch,
    an_alphanumeric_entity_is_blocked_by_any_of_its_branches,
}

/// The branch with this number of the legal entity of `cnpj`.
fn branch(cnpj: &str, number: u32) -> String {
    let root = Cnpj::parse(cnpj).unwrap().root();
    checked(&format!("{}{number:04}", root.as_str()))
}

/// The tax id with these twelve characters; its check digits are found by trial.
fn checked(base: &str) -> String {
    let mut spelled = (0..100).map(|check| format!("{base}{check:02}"));
    spelled.find(|it| Cnpj::parse(it).is_ok()).unwrap()
}

/// An offer to an unregistered supplier.
fn offer_to(sandbox: &Sandbox, number: &str, cnpj: &str) -> Value {
    let body = with(offer_body(sandbox, number), "/supplier/cnpj", json!(cnpj));
    let body = with(body, "/supplier/name", json!("Filial Ltda."));
    with(body, "/supplier/contactName", json!("Rui"))
}

async fn offer(sandbox: &Sandbox, number: &str, cnpj: &str) -> Answer {
    let body = offer_to(sandbox, number, cnpj);
    let caller = sandbox.caller("apiKey");
    caller.post_json(PRE_AUTHORIZATIONS, &body).await
}

// Contract: error-code/PRE_AUTH_SUPPLIER_SELF
async fn a_company_does_not_deal_with_a_branch_of_its_own(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let platform = sandbox.platform();
    let own = (422, "PRE_AUTH_SUPPLIER_SELF".to_owned());
    let unregistered = branch(sandbox.text("companyCnpj"), 9);
    assert_eq!(offer(&sandbox, "NF-1", &unregistered).await.refusal(), own);
    // A company of the group may have a root of its own; its branches belong to it.
    let cnpj = checked("100000010001");
    let subsidiary = json!({
        "cnpj": cnpj, "name": "Obras Ltda.", "kind": "CONSTRUCTION",
        "headOfficeId": sandbox.company().await,
    });
    let added = platform
        .post_json("/api/platform/v1/companies", &subsidiary)
        .await;
    assert_eq!(added.status, 201, "{}", added.text);
    let of_subsidiary = branch(&cnpj, 7);
    assert_eq!(offer(&sandbox, "NF-1", &of_subsidiary).await.refusal(), own);
    // A branch registered separately is still the company.
    let registered = json!({"cnpj": unregistered, "name": "Filial Ltda.", "kind": "SUPPLIER"});
    let added = platform
        .post_json("/api/platform/v1/companies", &registered)
        .await;
    assert_eq!(added.status, 201, "{}", added.text);
    assert_eq!(offer(&sandbox, "NF-1", &unregistered).await.refusal(), own);
    let advance = json!({
        "payerCompanyId": sandbox.company().await,
        "supplierCnpj": unregistered,
        "invoice": {"amount": 12500, "dueDate": due_date(60).to_string(), "number": "NF-1"},
    });
    let advanced = platform
        .post_json("/api/platform/v1/operations", &advance)
        .await;
    assert_eq!(advanced.refusal(), own);
    let list = sandbox
        .caller("apiKey")
        .get(PRE_AUTHORIZATIONS)
        .await
        .json();
    assert_eq!(list["pagination"]["total"], 0);
}

// Contract: error-code/PRE_AUTH_SUPPLIER_BLOCKED
async fn a_blocked_supplier_does_not_come_back_as_a_branch(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let platform = sandbox.platform();
    let blocked = sandbox.text("blockedSupplierCnpj").to_owned();
    let (second, third) = (branch(&blocked, 2), branch(&blocked, 3));
    let refused = (422, "PRE_AUTH_SUPPLIER_BLOCKED".to_owned());
    for cnpj in [&blocked, &second, &third] {
        assert_eq!(offer(&sandbox, "NF-1", cnpj).await.refusal(), refused);
    }
    let list = format!(
        "/api/platform/v1/companies/{}/blocked-suppliers",
        sandbox.company().await
    );
    let of = |cnpj: &str| format!("{list}/{cnpj}");
    let shown = platform.get(&of(&second)).await;
    assert_eq!((shown.status, shown.json()), (200, json!({"cnpj": second})));
    // Two entries of one entity: both are listed, and removing either removes both.
    let put = platform.send(Method::PUT, &of(&second), &[], None).await;
    assert_eq!(put.status, 200, "{}", put.text);
    let entries = platform.get(&list).await.json();
    assert_eq!(
        entries["data"],
        json!([{"cnpj": blocked}, {"cnpj": second}])
    );
    let taken_off = platform.send(Method::DELETE, &of(&third), &[], None).await;
    assert_eq!(taken_off.status, 204);
    for cnpj in [&blocked, &second, &third] {
        assert_eq!(platform.get(&of(cnpj)).await.status, 404);
        let number = format!("NF-{cnpj}");
        let taken = offer(&sandbox, &number, cnpj).await;
        assert_eq!(taken.status, 201, "{}", taken.text);
    }
    let again = platform
        .send(Method::DELETE, &of(&blocked), &[], None)
        .await;
    assert_eq!(again.refusal(), (404, "RESOURCE_NOT_FOUND".to_owned()));
}

async fn an_alphanumeric_entity_is_blocked_by_any_of_its_branches(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let path = format!(
        "/api/platform/v1/companies/{}/blocked-suppliers/{}",
        sandbox.company().await,
        branch("BRASIL00123400", 17)
    );
    let put = sandbox.platform().send(Method::PUT, &path, &[], None).await;
    assert_eq!(put.status, 200, "{}", put.text);
    let refused = (422, "PRE_AUTH_SUPPLIER_BLOCKED".to_owned());
    for cnpj in ["br.asi.l00/1234-00", &branch("BRASIL00123400", 2)] {
        assert_eq!(offer(&sandbox, "NF-1", cnpj).await.refusal(), refused);
    }
    // Another character in the root makes another entity.
    let other = offer(&sandbox, "NF-1", &branch("12ABC34501DE35", 1)).await;
    assert_eq!(other.status, 201, "{}", other.text);
}
