//! Suppliers: each head office invites under its own name for the supplier; the platform registers.

use preauth_client::wire::path::{PRE_AUTHORIZATIONS, pre_authorization};
use reqwest::Method;
use serde_json::{Value, json};
use test_support::{Answer, Backend, RawCaller, offer_body, on_each_database, with};

use crate::integration_view::caller_of;
use crate::scene::{Scene, text};

on_each_database! {
    one_head_offices_name_for_a_supplier_is_not_shown_to_others,
    an_invited_supplier_is_registered_by_the_platform_alone,
    a_corrected_name_is_shown_from_then_on_and_sent_events_stay,
    a_registration_among_creates_loses_none_of_them,
    a_registration_is_done_once_under_its_key,
}

const CNPJ: &str = "33444555000181";
const UNKNOWN: &str = "018f2f3a-0000-7000-8000-0000000000ff";

/// A second construction company with credit, and its ERP.
async fn neighbour(scene: &Scene) -> RawCaller {
    let company = json!({
        "cnpj": "45723001000100", "name": "Construtora Azul S.A.", "kind": "CONSTRUCTION",
    });
    let company = text(&scene.make("/companies", company).await["id"]);
    let limits = json!({"maxTermDays": 180, "maxInvoiceAmount": 1_000_000});
    let path = format!("/companies/{company}/credit-analysis");
    let set = scene.send(Method::PUT, &path, Some(limits)).await;
    assert_eq!(set.status, 200, "{}", set.text);
    caller_of(scene, &company).await
}

fn body(scene: &Scene, number: &str) -> Value {
    with(
        offer_body(&scene.sandbox, number),
        "/supplier/cnpj",
        json!(CNPJ),
    )
}

fn named(scene: &Scene, number: &str, name: &str) -> Value {
    let body = with(body(scene, number), "/supplier/name", json!(name));
    with(body, "/supplier/contactName", json!("Bruno Lima"))
}

async fn offered(erp: &RawCaller, body: &Value) -> Value {
    let answer = erp.post_json(PRE_AUTHORIZATIONS, body).await;
    assert_eq!(answer.status, 201, "{}", answer.text);
    answer.json()
}

/// The supplier's name in an operation: as its head office gets and lists it, and as the platform
/// does.
async fn names(scene: &Scene, erp: &RawCaller, offer: &Value) -> Vec<Value> {
    let id = offer["id"].to_string();
    let found = erp
        .get(&pre_authorization(id.parse().unwrap()))
        .await
        .json();
    let listed = erp.get(PRE_AUTHORIZATIONS).await.json();
    let everybodys = scene.get("/operations").await;
    let shown = |list: &Value| {
        let mut operations = list["data"].as_array().unwrap().iter();
        let one = operations.find(|it| it["id"] == offer["id"]);
        one.unwrap()["supplier"]["name"].clone()
    };
    vec![
        found["supplier"]["name"].clone(),
        shown(&listed),
        shown(&everybodys),
        scene.get(&format!("/operations/{id}")).await["supplier"]["name"].clone(),
    ]
}

async fn company_of(scene: &Scene) -> Value {
    let found = scene.get(&format!("/companies?cnpj={CNPJ}")).await;
    found["data"][0].clone()
}

fn registration() -> Value {
    json!({"cnpj": CNPJ, "name": "Registrada Ltda.", "kind": "SUPPLIER"})
}

// Contract: operation/supplier.name create-body/supplier.name
async fn one_head_offices_name_for_a_supplier_is_not_shown_to_others(backend: Backend) {
    let scene = Scene::new(backend).await;
    let (stranger, erp) = (neighbour(&scene).await, scene.sandbox.caller("apiKey"));
    let theirs = offered(&stranger, &named(&scene, "NF-1", "Nome do Estranho")).await;
    let nameless = erp
        .post_json(PRE_AUTHORIZATIONS, &body(&scene, "NF-1"))
        .await;
    let required = (422, "PRE_AUTH_SUPPLIER_NAME_REQUIRED".to_owned());
    assert_eq!(nameless.refusal(), required);
    let ours = offered(&erp, &named(&scene, "NF-1", "Fornecedora Certa")).await;
    assert_eq!(ours["supplier"]["name"], json!("Fornecedora Certa"));
    // The head office that invited a supplier may omit the name and cannot change it.
    let again = offered(&erp, &body(&scene, "NF-2")).await;
    let renamed = offered(&erp, &named(&scene, "NF-3", "Outro Nome")).await;
    for offer in [&ours, &again, &renamed] {
        let expected = vec![json!("Fornecedora Certa"); 4];
        assert_eq!(names(&scene, &erp, offer).await, expected);
    }
    let expected = vec![json!("Nome do Estranho"); 4];
    assert_eq!(names(&scene, &stranger, &theirs).await, expected);
    for event in scene.events(3).await {
        let name = &event["data"]["supplier"]["name"];
        assert_eq!(*name, json!("Fornecedora Certa"), "{event}");
    }
    let company = company_of(&scene).await;
    assert_eq!(
        (
            &company["name"],
            &company["registered"],
            &company["contact"]
        ),
        (&json!(null), &json!(false), &json!(null))
    );
    let id = text(&company["id"]);
    let invitations = scene.get(&format!("/companies/{id}/invitations")).await;
    let all = invitations["data"].as_array().unwrap();
    let listed: Vec<_> = all.iter().map(|it| text(&it["name"])).collect();
    assert_eq!(listed, ["Fornecedora Certa", "Nome do Estranho"]);
    assert_eq!(all[0]["headOfficeId"], json!(scene.company));
    assert_eq!(all[0]["contact"]["name"], json!("Bruno Lima"));
}

// Contract: error-code-of-ours/SUPPLIER_NOT_REGISTERED
async fn an_invited_supplier_is_registered_by_the_platform_alone(backend: Backend) {
    let scene = Scene::new(backend).await;
    let (stranger, erp) = (neighbour(&scene).await, scene.sandbox.caller("apiKey"));
    let theirs = offered(&stranger, &named(&scene, "NF-1", "Nome do Estranho")).await;
    let ours = offered(&erp, &named(&scene, "NF-1", "Fornecedora Certa")).await;
    let id = text(&company_of(&scene).await["id"]);
    let refused = (422, "SUPPLIER_NOT_REGISTERED".to_owned());
    for answer in needing_a_registered_supplier(&scene, &id).await {
        assert_eq!(answer.refusal(), refused, "{}", answer.text);
    }

    let registered = scene.make("/companies", registration()).await;
    assert_eq!(text(&registered["id"]), id);
    assert_eq!(registered["registered"], json!(true));
    let again = scene.post("/companies", registration()).await;
    assert_eq!(again.refusal(), (409, "RESOURCE_CONFLICT".to_owned()));
    for (erp, offer) in [(&stranger, &theirs), (&erp, &ours)] {
        let expected = vec![json!("Registrada Ltda."); 4];
        assert_eq!(names(&scene, erp, offer).await, expected);
    }
    // For every head office: a name that is sent is ignored, and none is required.
    let later = offered(&stranger, &named(&scene, "NF-2", "Nome do Estranho")).await;
    assert_eq!(later["supplier"]["name"], json!("Registrada Ltda."));
    scene.play(ours["id"].as_i64().unwrap(), &["request"]).await;
    let events = scene.events(2).await;
    let reported: Vec<_> = events
        .iter()
        .map(|it| &it["data"]["supplier"]["name"])
        .collect();
    assert_eq!(
        reported,
        [&json!("Fornecedora Certa"), &json!("Registrada Ltda.")]
    );
    let statuses = needing_a_registered_supplier(&scene, &id).await;
    let statuses: Vec<_> = statuses.iter().map(|answer| answer.status).collect();
    assert_eq!(statuses, [201, 201, 201, 201, 422, 201, 200, 201]);
    let invitations = scene.get(&format!("/companies/{id}/invitations")).await;
    assert_eq!(invitations["data"], json!([]));
}

/// Every action of the platform that requires a registered supplier.
async fn needing_a_registered_supplier(scene: &Scene, id: &str) -> Vec<Answer> {
    let mut of_parties = scene.advance_body("NF-90");
    of_parties["supplierCnpj"] = json!(CNPJ);
    let mut order = of_parties.clone();
    order.as_object_mut().unwrap().remove("invoice");
    order["amount"] = json!(900);
    let user = json!({
        "name": "Rui", "email": "rui@fornecedor.example.com",
        "permissions": ["REQUEST_ADVANCES", "PRE_AUTHORIZE_ADVANCES"],
    });
    let key = json!({"name": "ERP", "responsibleUserId": UNKNOWN, "scopes": ["preauth:read"]});
    let endpoint = json!({"url": scene.receiver.url(), "events": ["anticipation.paid"]});
    let company = format!("/companies/{id}");
    let branch = json!({
        "cnpj": "33444555000262", "name": "Filial", "kind": "SUPPLIER", "headOfficeId": id,
    });
    vec![
        scene.post("/operations", of_parties.clone()).await,
        scene.post("/invoices", of_parties).await,
        scene.post("/payment-orders", order).await,
        scene.post(&format!("{company}/users"), user).await,
        scene.post(&format!("{company}/api-keys"), key).await,
        scene
            .send(
                Method::PUT,
                &format!("{company}/webhook-endpoint"),
                Some(endpoint),
            )
            .await,
        scene
            .send(
                Method::PATCH,
                &company,
                Some(json!({"name": "Registrada Ltda."})),
            )
            .await,
        scene.post("/companies", branch).await,
    ]
}

// Contract: operation/supplier.name
async fn a_corrected_name_is_shown_from_then_on_and_sent_events_stay(backend: Backend) {
    let scene = Scene::new(backend).await;
    let erp = scene.sandbox.caller("apiKey");
    let body = offer_body(&scene.sandbox, "NF-1");
    let key = [("idempotency-key", "invoice-1")];
    let json_type = [("content-type", "application/json"), key[0]];
    let create = || {
        let bytes = body.to_string().into_bytes();
        erp.send(Method::POST, PRE_AUTHORIZATIONS, &json_type, Some(bytes))
    };
    let first = create().await;
    assert_eq!(first.status, 201, "{}", first.text);
    let offer = first.json();
    let supplier = scene.company_of("supplierCnpj").await;
    let rename = |id: String, name: &'static str| {
        let scene = &scene;
        async move {
            let change = Some(json!({"name": name}));
            let path = format!("/companies/{id}");
            let answer = scene.send(Method::PATCH, &path, change).await;
            assert_eq!(answer.status, 200, "{}", answer.text);
            assert_eq!(answer.json()["name"], json!(name));
            assert_eq!(answer.json(), scene.get(&path).await);
        }
    };
    rename(supplier.clone(), "Fornecedor Corrigido Ltda.").await;
    rename(scene.company.clone(), "Construtora Corrigida S.A.").await;
    let expected = vec![json!("Fornecedor Corrigido Ltda."); 4];
    assert_eq!(names(&scene, &erp, &offer).await, expected);
    let id = offer["id"].to_string();
    let found = erp
        .get(&pre_authorization(id.parse().unwrap()))
        .await
        .json();
    assert_eq!(found["payer"]["name"], json!("Construtora Corrigida S.A."));
    // The replay is the original answer.
    assert_eq!(create().await.text, first.text);
    scene
        .play(offer["id"].as_i64().unwrap(), &["request"])
        .await;
    let events = scene.events(2).await;
    let reported: Vec<_> = events
        .iter()
        .map(|it| &it["data"]["supplier"]["name"])
        .collect();
    let before = json!("Fornecedor Exemplo Ltda.");
    assert_eq!(reported, [&before, &json!("Fornecedor Corrigido Ltda.")]);
    let path = format!("/companies/{supplier}");
    let unchanged = scene.send(Method::PATCH, &path, Some(json!({}))).await;
    assert_eq!(
        unchanged.json()["name"],
        json!("Fornecedor Corrigido Ltda.")
    );
    let nowhere = format!("/companies/{UNKNOWN}");
    let nobody = scene
        .send(Method::PATCH, &nowhere, Some(json!({"name": "X"})))
        .await;
    assert_eq!(nobody.refusal(), (404, "RESOURCE_NOT_FOUND".to_owned()));
}

async fn a_registration_among_creates_loses_none_of_them(backend: Backend) {
    let scene = Scene::new(backend).await;
    let (stranger, erp) = (neighbour(&scene).await, scene.sandbox.caller("apiKey"));
    let numbers: Vec<_> = (0..12).map(|n| format!("NF-{n}")).collect();
    let creates = numbers.iter().enumerate().map(|(n, number)| {
        let (erp, name) = match n % 2 {
            0 => (&erp, "Fornecedora Certa"),
            _ => (&stranger, "Nome do Estranho"),
        };
        let body = named(&scene, number, name);
        async move { (erp, offered(erp, &body).await) }
    });
    let creates = futures_util::future::join_all(creates);
    let (offers, registered) = tokio::join!(creates, scene.make("/companies", registration()));
    assert_eq!(registered["name"], json!("Registrada Ltda."));
    let company = company_of(&scene).await;
    assert_eq!(company, registered);
    for (erp, offer) in offers {
        let expected = vec![json!("Registrada Ltda."); 4];
        assert_eq!(names(&scene, erp, &offer).await, expected);
    }
}

async fn a_registration_is_done_once_under_its_key(backend: Backend) {
    let scene = Scene::new(backend).await;
    let erp = scene.sandbox.caller("apiKey");
    offered(&erp, &named(&scene, "NF-1", "Fornecedora Certa")).await;
    let path = format!("{}/companies", preauth_server::http::platform::PREFIX);
    let headers = [
        ("content-type", "application/json"),
        ("idempotency-key", "register-1"),
    ];
    let register = || {
        let bytes = registration().to_string().into_bytes();
        scene
            .platform
            .send(Method::POST, &path, &headers, Some(bytes))
    };
    let first = register().await;
    assert_eq!(first.status, 201, "{}", first.text);
    let again = register().await;
    assert_eq!((again.status, &again.text), (201, &first.text));
}
