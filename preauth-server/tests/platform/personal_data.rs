//! Personal data: what there is, a copy of it, and its erasure, which leaves the records of business.

use preauth_client::wire::path::{PRE_AUTHORIZATIONS, cancel};
use preauth_server::http::platform::PREFIX;
use reqwest::Method;
use serde_json::{Value, json};
use test_support::office::until_true;
use test_support::{Answer, Backend, Form, RawCaller, offer_body, on_each_database, with};

use crate::integration_view::caller_of;
use crate::scene::{Scene, text};

on_each_database! {
    an_erasure_removes_persons_and_leaves_operations,
    an_erased_supplier_is_invited_anew,
    an_erasure_is_refused_while_something_is_in_progress,
    erased_users_stay_as_somebody_who_may_do_nothing,
    exactly_the_company_with_the_tax_id_is_erased,
    a_reader_who_ended_the_mails_gets_none_after_an_erasure,
    a_reply_with_a_user_is_erased_as_well,
}

const CNPJ: &str = "33444555000181";
const OTHER: &str = "55788001000134";
const CONTACT: &str = "bruno@fornecedor.example.com";
const PDF: &[u8] = b"%PDF-1.7 nota";

fn offer_to(scene: &Scene, cnpj: &str, number: &str) -> Value {
    let body = with(
        offer_body(&scene.sandbox, number),
        "/supplier/cnpj",
        json!(cnpj),
    );
    let body = with(body, "/supplier/name", json!("Fornecedora Lima Ltda."));
    let body = with(body, "/supplier/email", json!(CONTACT));
    with(body, "/supplier/contactName", json!("Bruno Lima"))
}

/// Offers with a file; returns the operation's id.
async fn offered(scene: &Scene, cnpj: &str, number: &str) -> i64 {
    let form = Form::of(&offer_to(scene, cnpj, number));
    let form = form.file("nota-do-bruno.pdf", "application/pdf", PDF);
    let caller = scene.sandbox.caller("apiKey");
    let answer = caller.post_form(PRE_AUTHORIZATIONS, &[], form).await;
    assert_eq!(answer.status, 201, "{}", answer.text);
    answer.json()["id"].as_i64().unwrap()
}

async fn cancelled(scene: &Scene, operation: i64) {
    let path = cancel(operation.to_string().parse().unwrap());
    let done = scene.sandbox.caller("apiKey").post(&path).await;
    assert_eq!(done.status, 201, "{}", done.text);
}

async fn shown(scene: &Scene, cnpj: &str) -> Value {
    scene.get(&format!("/personal-data/{cnpj}")).await
}

async fn erase(scene: &Scene, cnpj: &str) -> Answer {
    let path = format!("/personal-data/{cnpj}/erasure");
    scene.send(Method::POST, &path, None).await
}

async fn erased(scene: &Scene, cnpj: &str) -> Value {
    let answer = erase(scene, cnpj).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()
}

async fn file_of(scene: &Scene, operation: i64) -> Answer {
    let path = format!("{PREFIX}/operations/{operation}/invoice-file");
    scene.platform.get(&path).await
}

async fn an_erasure_removes_persons_and_leaves_operations(backend: Backend) {
    let scene = Scene::new(backend).await;
    let (erased_one, kept) = (
        offered(&scene, CNPJ, "NF-1").await,
        offered(&scene, OTHER, "NF-1").await,
    );
    cancelled(&scene, erased_one).await;
    let found = shown(&scene, CNPJ).await;
    let counts = [
        "contacts",
        "users",
        "mails",
        "files",
        "operationsInProgress",
    ];
    assert_eq!(
        counts.map(|it| found[it].as_u64().unwrap()),
        [1, 0, 1, 1, 0]
    );
    let copy = scene.get(&format!("/personal-data/{CNPJ}/export")).await;
    assert_eq!(copy["contacts"][0]["contact"]["email"], CONTACT);
    assert_eq!(copy["contacts"][0]["contact"]["name"], "Bruno Lima");
    assert_eq!(copy["mails"][0]["recipient"], CONTACT);
    assert_eq!(copy["files"][0]["name"], "nota-do-bruno.pdf");
    let before = scene.get(&format!("/operations/{erased_one}")).await;
    let totals = scene.get("/reports").await;

    let erasure = erased(&scene, CNPJ).await;
    let numbers = ["contacts", "users", "mails", "files"].map(|it| erasure[it].as_u64().unwrap());
    assert_eq!(numbers, [1, 0, 1, 1]);
    assert_eq!(erasure["operator"], "root");
    assert!(erasure["completedAt"].is_string());
    let found = shown(&scene, CNPJ).await;
    assert_eq!(counts.map(|it| found[it].as_u64().unwrap()), [0; 5]);
    assert_eq!(found["erasures"], json!([erasure]));
    // Once more changes nothing.
    assert_eq!(erased(&scene, CNPJ).await, erasure);

    let path = format!("{PREFIX}/personal-data/{CNPJ}/export");
    let copy = scene.platform.get(&path).await.text;
    assert!(!copy.contains("runo"), "{copy}");
    let mails = scene
        .get(&format!("/notices?operationId={erased_one}"))
        .await;
    assert_eq!(mails["pagination"]["total"], 0);
    let after = scene.get(&format!("/operations/{erased_one}")).await;
    let of_business = ["status", "supplier", "invoice", "payer", "events"];
    for field in of_business {
        assert_eq!(after[field], before[field], "{field}");
    }
    assert_eq!(after["supplier"]["name"], "Fornecedora Lima Ltda.");
    assert_eq!(after["invoiceFile"], Value::Null);
    assert_eq!(scene.get("/reports").await, totals);
    // The same content came with another company's offer.
    assert_eq!(file_of(&scene, erased_one).await.status, 404);
    let theirs = file_of(&scene, kept).await;
    assert_eq!((theirs.status, theirs.text.as_bytes()), (200, PDF));
    cancelled(&scene, kept).await;
    erased(&scene, OTHER).await;
    assert_eq!(file_of(&scene, kept).await.status, 404);
    let row = scene.get("/audit-log?limit=1").await["data"][0].clone();
    assert_eq!(row["action"], "erasePersonalData");
    assert_eq!(row["record"], format!("personal-data/{OTHER}"));
}

async fn an_erased_supplier_is_invited_anew(backend: Backend) {
    let scene = Scene::new(backend).await;
    let first = offered(&scene, CNPJ, "NF-1").await;
    cancelled(&scene, first).await;
    erased(&scene, CNPJ).await;
    let erp = scene.sandbox.caller("apiKey");
    let known = with(
        offer_body(&scene.sandbox, "NF-2"),
        "/supplier/cnpj",
        json!(CNPJ),
    );
    let refused = erp.post_json(PRE_AUTHORIZATIONS, &known).await;
    let expected = (422, "PRE_AUTH_SUPPLIER_NAME_REQUIRED".to_owned());
    assert_eq!(refused.refusal(), expected);
    let second = offered(&scene, CNPJ, "NF-2").await;
    let found = shown(&scene, CNPJ).await;
    assert_eq!(found["contacts"], 1);
    let mails = scene.get(&format!("/notices?operationId={second}")).await;
    assert_eq!(mails["data"][0]["kind"], "INVITATION");
    // What came later is erased by an erasure of its own.
    cancelled(&scene, second).await;
    let again = erased(&scene, CNPJ).await;
    assert_eq!(
        (&again["contacts"], &again["mails"]),
        (&json!(1), &json!(1))
    );
    let found = shown(&scene, CNPJ).await;
    assert_eq!(found["erasures"].as_array().unwrap().len(), 2);
}

async fn an_erasure_is_refused_while_something_is_in_progress(backend: Backend) {
    let scene = Scene::new(backend).await;
    let offer = offered(&scene, CNPJ, "NF-1").await;
    let payer = scene.sandbox.text("companyCnpj").to_owned();
    let refused = async |cnpj: &str| {
        let before = shown(&scene, cnpj).await;
        let answer = erase(&scene, cnpj).await;
        assert_eq!(answer.refusal(), (409, "RESOURCE_CONFLICT".to_owned()));
        assert!(
            answer.text.contains("operação em andamento"),
            "{}",
            answer.text
        );
        assert_eq!(shown(&scene, cnpj).await, before);
        before
    };
    for cnpj in [CNPJ, &payer] {
        assert_eq!(refused(cnpj).await["operationsInProgress"], 1, "{cnpj}");
    }
    cancelled(&scene, offer).await;
    let supplier = scene.sandbox.text("supplierCnpj").to_owned();
    let order = json!({
        "payerCompanyId": scene.company, "supplierCnpj": supplier, "amount": 900.5,
    });
    let order = scene.make("/payment-orders", order).await["id"].clone();
    for cnpj in [&supplier, &payer] {
        assert_eq!(refused(cnpj).await["openPaymentOrders"], 1, "{cnpj}");
    }
    let path = format!("/payment-orders/{order}/cancel");
    assert_eq!(scene.post(&path, json!({})).await.status, 200);
    erased(&scene, CNPJ).await;
    erased(&scene, &supplier).await;
    for (cnpj, status) in [("45723001000100", 404), ("45723001000101", 400)] {
        for path in ["", "/export"] {
            let path = format!("{PREFIX}/personal-data/{cnpj}{path}");
            assert_eq!(scene.platform.get(&path).await.status, status, "{path}");
        }
        assert_eq!(erase(&scene, cnpj).await.status, status, "{cnpj}");
    }
}

async fn company(scene: &Scene, cnpj: &str, head_office: Option<&str>) -> String {
    let mut body = json!({"cnpj": cnpj, "name": "Obra Nova S.A.", "kind": "CONSTRUCTION"});
    if let Some(head_office) = head_office {
        body["headOfficeId"] = json!(head_office);
    }
    text(&scene.make("/companies", body).await["id"])
}

async fn users_of(scene: &Scene, company: &str) -> Value {
    let listed = scene.get(&format!("/companies/{company}/users")).await;
    listed["data"].clone()
}

async fn erased_users_stay_as_somebody_who_may_do_nothing(backend: Backend) {
    let scene = Scene::new(backend).await;
    let company = company(&scene, "45723001000100", None).await;
    let erp: RawCaller = caller_of(&scene, &company).await;
    assert_eq!(erp.get(PRE_AUTHORIZATIONS).await.status, 200);
    let user = users_of(&scene, &company).await[0].clone();

    let erasure = erased(&scene, "45723001000100").await;
    assert_eq!(erasure["users"], 1);
    let after = users_of(&scene, &company).await[0].clone();
    assert_eq!(after["id"], user["id"]);
    assert_eq!(after["name"], "Dados apagados");
    assert_ne!(after["email"], user["email"]);
    assert_eq!(after["active"], false);
    // From the next request on.
    let refused = erp.get(PRE_AUTHORIZATIONS).await;
    assert_eq!(refused.status, 403, "{}", refused.text);
    let path = format!("/users/{}", text(&user["id"]));
    let change = json!({"name": "Eva", "email": "eva@obra.example.com", "active": true});
    let answer = scene.send(Method::PATCH, &path, Some(change)).await;
    assert_eq!(answer.refusal(), (409, "RESOURCE_CONFLICT".to_owned()));
    assert_eq!(users_of(&scene, &company).await[0], after);
    // Another person takes over, under the same address.
    let eva = json!({"name": "Eva", "email": user["email"], "permissions": []});
    scene
        .make(&format!("/companies/{company}/users"), eva)
        .await;
}

async fn exactly_the_company_with_the_tax_id_is_erased(backend: Backend) {
    let scene = Scene::new(backend).await;
    let head_office = company(&scene, "45723001000100", None).await;
    let branch = company(&scene, "45723001000283", Some(&head_office)).await;
    for (company, email) in [
        (&head_office, "ana@obra.example.com"),
        (&branch, "eva@obra.example.com"),
    ] {
        let user = json!({"name": "Ana", "email": email, "permissions": []});
        scene
            .make(&format!("/companies/{company}/users"), user)
            .await;
    }
    let erasure = erased(&scene, "45723001000283").await;
    assert_eq!(erasure["users"], 1);
    assert_eq!(users_of(&scene, &branch).await[0]["active"], false);
    let kept = users_of(&scene, &head_office).await[0].clone();
    assert_eq!(kept["email"], "ana@obra.example.com");
    assert_eq!(shown(&scene, "45723001000100").await["users"], 1);
}

async fn a_reader_who_ended_the_mails_gets_none_after_an_erasure(backend: Backend) {
    let scene = Scene::new(backend).await;
    let offer = offered(&scene, CNPJ, "NF-1").await;
    let path = format!("{}/nao-receber", scene.sandbox.page_of(offer));
    let ended = scene.sandbox.suppliers().post(&path).await;
    assert_eq!(ended.status, 200, "{}", ended.text);
    cancelled(&scene, offer).await;
    erased(&scene, CNPJ).await;
    // The one thing that is kept, so that it is obeyed.
    assert_eq!(shown(&scene, CNPJ).await["suppressedAddresses"], 1);
    let next = offered(&scene, CNPJ, "NF-2").await;
    until_true("the mail is not sent", async || {
        let mails = scene.get(&format!("/notices?operationId={next}")).await;
        mails["data"][0]["status"] == "SUPPRESSED"
    })
    .await;
}

async fn a_reply_with_a_user_is_erased_as_well(backend: Backend) {
    let scene = Scene::new(backend).await;
    let company = company(&scene, "45723001000100", None).await;
    let path = format!("{PREFIX}/companies/{company}/users");
    let body = json!({"name": "Ana", "email": "ana@obra.example.com", "permissions": []});
    let bytes = || Some(body.to_string().into_bytes());
    let headers = [
        ("content-type", "application/json"),
        ("idempotency-key", "user-of-obra"),
    ];
    let send = async || {
        let sent = scene.platform.send(Method::POST, &path, &headers, bytes());
        sent.await.json()["id"].clone()
    };
    let first = send().await;
    assert_eq!(send().await, first);
    erased(&scene, "45723001000100").await;
    assert_ne!(send().await, first);
}
