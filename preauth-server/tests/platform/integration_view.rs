//! The platform's actions, as the ERP sees them.

use preauth_client::wire::path::{PRE_AUTHORIZATIONS, pre_authorization};
use serde_json::{Value, json};
use test_support::{Backend, RawCaller, due_date, offer_body, on_each_database};

use crate::scene::{Scene, text};

on_each_database! {
    a_direct_advance_is_listed_and_found_like_an_offer,
    a_head_office_sees_its_branches_and_a_branch_itself,
    another_companys_operations_do_not_exist,
    a_supplier_with_a_key_offers_nothing,
    an_invoice_that_a_branch_has_under_way_is_a_duplicate,
}

fn one(id: &Value) -> String {
    pre_authorization(id.to_string().parse().unwrap())
}

async fn ids(caller: &RawCaller, query: &str) -> Vec<i64> {
    let listed = caller.get(&format!("{PRE_AUTHORIZATIONS}{query}")).await;
    assert_eq!(listed.status, 200, "{}", listed.text);
    let listed = listed.json();
    let data = listed["data"].as_array().unwrap();
    data.iter().map(|it| it["id"].as_i64().unwrap()).collect()
}

// Contract: service/both-origins operation/status operation/externalReference
// Contract: operation/invoice.number operation/invoice.withheldTaxAmount operation/expiresAt
// Contract: status/IN_VERIFICATION status/TO_PAY list-call/what
async fn a_direct_advance_is_listed_and_found_like_an_offer(backend: Backend) {
    let scene = Scene::new(backend).await;
    let offered = scene.offer("NF-1").await;
    let mut body = scene.advance_body("NF-2");
    body["externalReference"] = json!("TITULO 7");
    body["invoice"].as_object_mut().unwrap().remove("number");
    let advanced = scene.make("/operations", body).await;
    let erp = scene.sandbox.caller("apiKey");
    let found = erp.get(&one(&advanced["id"])).await.json();
    let expected = json!({
        "id": advanced["id"],
        "status": "IN_VERIFICATION",
        "externalReference": "TITULO 7",
        "payer": {
            "cnpj": scene.sandbox.text("companyCnpj"),
            "name": "Construtora Exemplo S.A.",
        },
        "supplier": {
            "cnpj": scene.sandbox.text("supplierCnpj"),
            "name": "Fornecedor Exemplo Ltda.",
        },
        "invoice": {
            "amount": 12500.5,
            "dueDate": due_date(60).to_string(),
            "number": null,
            "withheldTaxAmount": 0,
        },
        "expiresAt": null,
        "createdAt": advanced["createdAt"],
    });
    assert_eq!(found, expected);
    let advanced = advanced["id"].as_i64().unwrap();
    assert_eq!(ids(&erp, "").await, [advanced, offered]);
    assert_eq!(ids(&erp, "?status=IN_VERIFICATION").await, [advanced]);
    assert_eq!(ids(&erp, "?externalReference=TITULO%207").await, [advanced]);
    scene
        .play(advanced, &["verify", "approve", "release"])
        .await;
    assert_eq!(
        ids(&erp, "?status=TO_PAY&status=IN_PRE_AUTH").await,
        [advanced, offered]
    );
}

// Contract: operation/payer list-call/what
async fn a_head_office_sees_its_branches_and_a_branch_itself(backend: Backend) {
    let scene = Scene::new(backend).await;
    let offered = scene.offer("NF-1").await;
    let mut body = scene.advance_body("NF-2");
    body["payerCompanyId"] = json!(scene.company_of("branchCnpj").await);
    let of_branch = scene.make("/operations", body).await;
    let (erp, branch) = (
        scene.sandbox.caller("apiKey"),
        scene.sandbox.caller("branchApiKey"),
    );
    let id = of_branch["id"].as_i64().unwrap();
    assert_eq!(ids(&erp, "").await, [id, offered]);
    assert_eq!(ids(&branch, "").await, [id]);
    for caller in [&erp, &branch] {
        let found = caller.get(&one(&of_branch["id"])).await.json();
        assert_eq!(found["payer"]["cnpj"], scene.sandbox.text("branchCnpj"));
    }
    let hidden = branch.get(&one(&json!(offered))).await;
    assert_eq!(hidden.refusal(), (404, "ANTICIPATION_NOT_FOUND".to_owned()));
}

// Contract: get-call/404
async fn another_companys_operations_do_not_exist(backend: Backend) {
    let scene = Scene::new(backend).await;
    let company = json!({"cnpj": "45723001000100", "name": "Azul", "kind": "CONSTRUCTION"});
    let azul = text(&scene.make("/companies", company).await["id"]);
    let stranger = caller_of(&scene, &azul).await;
    let (offered, advanced) = (scene.offer("NF-1").await, scene.advance("NF-2").await);
    assert!(ids(&stranger, "").await.is_empty());
    for id in [offered, advanced, 999] {
        let path = one(&json!(id));
        let found = stranger.get(&path).await;
        assert_eq!(
            found.refusal(),
            (404, "ANTICIPATION_NOT_FOUND".to_owned()),
            "{id}"
        );
        let cancelled = stranger.post(&format!("{path}/cancel")).await;
        assert_eq!(
            cancelled.refusal(),
            (404, "ANTICIPATION_NOT_FOUND".to_owned()),
            "{id}"
        );
    }
}

// Contract: authentication/construction-company error-code/PRE_AUTH_ONLY_CONSTRUTORA
async fn a_supplier_with_a_key_offers_nothing(backend: Backend) {
    let scene = Scene::new(backend).await;
    let supplier = scene.company_of("supplierCnpj").await;
    let caller = caller_of(&scene, &supplier).await;
    let body = offer_body(&scene.sandbox, "NF-1");
    let refused = caller.post_json(PRE_AUTHORIZATIONS, &body).await;
    assert_eq!(
        refused.refusal(),
        (403, "PRE_AUTH_ONLY_CONSTRUTORA".to_owned())
    );
}

// Contract: duplicate/channel
async fn an_invoice_that_a_branch_has_under_way_is_a_duplicate(backend: Backend) {
    let scene = Scene::new(backend).await;
    let mut body = scene.advance_body("NF-1");
    body["payerCompanyId"] = json!(scene.company_of("branchCnpj").await);
    let advanced = scene.make("/operations", body).await;
    let erp = scene.sandbox.caller("apiKey");
    let offer = offer_body(&scene.sandbox, "NF-1");
    let refused = erp.post_json(PRE_AUTHORIZATIONS, &offer).await;
    assert_eq!(
        refused.refusal(),
        (409, "PRE_AUTH_DUPLICATE_INVOICE".to_owned())
    );
    assert_eq!(
        refused.json()["details"],
        json!([{"anticipationId": advanced["id"]}])
    );
    let id = advanced["id"].as_i64().unwrap();
    scene.play(id, &["reprove by COMPANY"]).await;
    let accepted = erp.post_json(PRE_AUTHORIZATIONS, &offer).await;
    assert_eq!(accepted.status, 201, "{}", accepted.text);
}

/// A key with both scopes, for a company that has none yet.
pub(crate) async fn caller_of(scene: &Scene, company: &str) -> RawCaller {
    let permissions = ["REQUEST_ADVANCES", "PRE_AUTHORIZE_ADVANCES"];
    let person =
        json!({"name": "Eva", "email": "eva@azul.example.com", "permissions": permissions});
    let users = format!("/companies/{company}/users");
    let eva = scene.make(&users, person).await;
    let key = json!({
        "name": "ERP",
        "responsibleUserId": eva["id"],
        "scopes": ["preauth:read", "preauth:write"],
    });
    let keys = format!("/companies/{company}/api-keys");
    let key = scene.make(&keys, key).await;
    RawCaller::new(scene.sandbox.text("baseUrl"), key["key"].as_str())
}
