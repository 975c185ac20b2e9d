//! What the ERP sees of what happens in the platform.

use preauth_client::wire::path::{PRE_AUTHORIZATIONS, pre_authorization};
use serde_json::{Value, json};

use crate::scene::{Scene, text};
use crate::support::{Backend, RawCaller, due_date};

on_each_database! {
    a_direct_advance_is_listed_and_found_like_an_offer,
    a_head_office_sees_its_branches_and_a_branch_itself,
    another_companys_operations_do_not_exist,
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

async fn another_companys_operations_do_not_exist(backend: Backend) {
    let scene = Scene::new(backend).await;
    let company = json!({"cnpj": "45723001000100", "name": "Azul", "kind": "CONSTRUCTION"});
    let azul = text(&scene.make("/companies", company).await["id"]);
    let permissions = ["REQUEST_ADVANCES", "PRE_AUTHORIZE_ADVANCES"];
    let person =
        json!({"name": "Eva", "email": "eva@azul.example.com", "permissions": permissions});
    let eva = scene
        .make(&format!("/companies/{azul}/users"), person)
        .await;
    let key = json!({
        "name": "ERP",
        "responsibleUserId": eva["id"],
        "scopes": ["preauth:read", "preauth:write"],
    });
    let key = scene
        .make(&format!("/companies/{azul}/api-keys"), key)
        .await;
    let stranger = RawCaller::new(scene.sandbox.text("baseUrl"), key["key"].as_str());
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
