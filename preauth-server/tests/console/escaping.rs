//! Texts of attackers, in every field that a stranger fills and in receivers' answers, are shown as text.

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use preauth_server::http::console_paths;
use preauth_server::http::platform::PREFIX;
use serde_json::json;
use test_support::{Backend, Sandbox, on_each_database};

use crate::browser::Browser;
use crate::pages::Ids;

on_each_database! { script_texts_are_shown_as_texts }

const SCRIPT: &str = "\"'><script>alert(1)</script>";

async fn script_texts_are_shown_as_texts(backend: Backend) {
    let receiver = wiremock::MockServer::start().await;
    let hostile = wiremock::ResponseTemplate::new(500).set_body_string(SCRIPT);
    wiremock::Mock::given(wiremock::matchers::any())
        .respond_with(hostile)
        .mount(&receiver)
        .await;
    let sandbox = Sandbox::start_sending_to(backend, &receiver.uri()).await;
    let ids = Ids::of(&sandbox).await;
    let platform = sandbox.platform();
    let mut offer = test_support::offer_body(&sandbox, SCRIPT);
    offer["externalReference"] = json!(SCRIPT);
    offer["supplier"] = json!({
        "cnpj": "12ABC34501DE35",
        "name": SCRIPT,
        "contactName": SCRIPT,
        "email": "a@b.co",
    });
    let caller = sandbox.caller("apiKey");
    let offered = caller.post_json(PRE_AUTHORIZATIONS, &offer).await;
    assert_eq!(offered.status, 201, "{}", offered.text);
    let id = offered.json()["id"].clone();
    let decline = format!("{PREFIX}/operations/{id}/decline");
    let declined = platform
        .post_json(&decline, &json!({"reason": SCRIPT}))
        .await;
    assert_eq!(declined.status, 200, "{}", declined.text);
    let company = sandbox.company().await;
    let user = json!({"name": SCRIPT, "email": "x@b.co", "permissions": []});
    let path = format!("{PREFIX}/companies/{company}");
    let added = platform.post_json(&format!("{path}/users"), &user).await;
    assert_eq!(added.status, 201, "{}", added.text);
    let operator = json!({"name": "<script>alert(1)</script>", "role": "ADMIN"});
    let added = platform
        .post_json(&format!("{PREFIX}/operators"), &operator)
        .await;
    assert_eq!(added.status, 201, "{}", added.text);
    let token = added.json()["token"].as_str().unwrap().to_owned();
    let deliveries = format!("{PREFIX}/deliveries?operationId={id}");
    let delivery = loop {
        let found = platform.get(&deliveries).await.json();
        let attempted = found["data"].as_array().unwrap().iter().find(|it| {
            let attempts = it["attempts"].as_array().unwrap();
            !attempts.is_empty()
        });
        if let Some(delivery) = attempted {
            break delivery["id"].as_str().unwrap().to_owned();
        }
    };
    let browser = Browser::signed_in(sandbox.text("platformUrl"), &token).await;
    let own = [
        format!("/console/operations/{id}"),
        format!("/console/deliveries/{delivery}"),
    ];
    look_for_scripts(browser, &ids, own).await;
}

/// Opens every page, and some under paths of attackers.
async fn look_for_scripts(mut browser: Browser, ids: &Ids, own: [String; 2]) {
    let mut paths: Vec<_> = console_paths()
        .into_iter()
        .filter(|(method, _)| method == "GET")
        .map(|(_, path)| ids.fill(&path))
        .collect();
    paths.extend(own);
    paths.extend([
        "/console/operations?invoiceNumber=\"><script>alert(1)</script>".to_owned(),
        "/console/operations?status=\"><script>".to_owned(),
        "/console/sign-in?next=\"><script>alert(1)</script>".to_owned(),
        "/console/\"><script>alert(1)</script>".to_owned(),
    ]);
    let mut shown = 0;
    for path in paths {
        let answer = browser.get(&path).await;
        if !answer.header("content-type").starts_with("text/html") {
            continue;
        }
        assert!(!answer.text.contains("<script>"), "{path}: {}", answer.text);
        shown += answer.text.matches("&#60;script&#62;").count();
    }
    assert!(shown > 60, "shown {shown} times");
}
