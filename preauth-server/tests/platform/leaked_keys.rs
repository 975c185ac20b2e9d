//! Leaked keys: found by their prefix, in all companies, without a trace of the key itself.

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use reqwest::Method;
use serde_json::{Value, json};
use test_support::{Backend, on_each_database};

use crate::scene::{Scene, text};

on_each_database! {
    a_leaked_key_is_found_by_its_beginning_and_revoked,
    a_whole_key_finds_itself_alone_and_is_cut_off,
    a_text_without_enough_of_a_key_is_refused,
    the_number_of_found_keys_is_bounded,
}

const PATH: &str = "/api-key-search";

async fn search(scene: &Scene, leaked: &str) -> Value {
    let found = scene.post(PATH, json!({"text": leaked})).await;
    assert_eq!(found.status, 200, "{}", found.text);
    found.json()
}

async fn make(scene: &Scene, company: &str, number: usize) -> Value {
    let user = json!({
        "name": "Eva",
        "email": format!("eva{number}@example.com"),
        "permissions": ["REQUEST_ADVANCES", "PRE_AUTHORIZE_ADVANCES"],
    });
    let user = scene
        .make(&format!("/companies/{company}/users"), user)
        .await;
    let key = json!({"name": "ERP", "responsibleUserId": user["id"], "scopes": ["preauth:read"]});
    scene
        .make(&format!("/companies/{company}/api-keys"), key)
        .await
}

async fn a_leaked_key_is_found_by_its_beginning_and_revoked(backend: Backend) {
    let scene = Scene::new(backend).await;
    let branch = scene.company_of("branchCnpj").await;
    let made = make(&scene, &branch, 1).await;
    let (id, clear) = (text(&made["id"]), text(&made["key"]));
    let erp = test_support::RawCaller::new(scene.sandbox.text("baseUrl"), Some(&clear));
    assert_eq!(erp.get(PRE_AUTHORIZATIONS).await.status, 200);
    let prefix = text(&made["prefix"]);
    for leaked in [
        prefix.clone(),
        format!("{prefix}…"),
        format!("key: \"{prefix}...\""),
    ] {
        let found = search(&scene, &leaked).await;
        let [found] = &found["data"].as_array().unwrap()[..] else {
            panic!("one of few keys begins like that: {found}");
        };
        assert_eq!(
            (&found["id"], &found["state"]),
            (&made["id"], &json!("ACTIVE"))
        );
        assert_eq!(found["company"]["cnpj"], scene.sandbox.text("branchCnpj"));
        assert!(found["lastUsedAt"].is_string(), "{found}");
        assert!(found.get("key").is_none());
    }
    let path = format!("/api-keys/{id}");
    let revoked = scene.send(Method::DELETE, &path, None).await;
    assert_eq!(revoked.status, 204);
    assert_eq!(erp.get(PRE_AUTHORIZATIONS).await.code(), "API_KEY_REVOKED");
    assert_eq!(search(&scene, &prefix).await["data"][0]["state"], "REVOKED");
}

async fn a_whole_key_finds_itself_alone_and_is_cut_off(backend: Backend) {
    let scene = Scene::new(backend).await;
    let made = make(&scene, &scene.company, 1).await;
    let clear = text(&made["key"]);
    let found = search(&scene, &format!("Authorization: Bearer {clear}\n")).await;
    assert_eq!(found["data"][0]["id"], made["id"]);
    assert_eq!(found["data"].as_array().unwrap().len(), 1);
    assert!(!found.to_string().contains(&clear[..20]));
    // With one digit changed it is not a valid whole key, and is found by its prefix.
    let mut mistyped = clear.clone().into_bytes();
    mistyped[40] = if mistyped[40] == b'0' { b'1' } else { b'0' };
    let mistyped = String::from_utf8(mistyped).unwrap();
    assert_eq!(search(&scene, &mistyped).await["data"][0]["id"], made["id"]);
    let log = scene.sandbox.log();
    assert!(!log.contains(&clear[15..]), "the key is in the log");
}

async fn a_text_without_enough_of_a_key_is_refused(backend: Backend) {
    let scene = Scene::new(backend).await;
    for leaked in [
        "",
        "service_sk_",
        "service_sk_a",
        "service_sk_%",
        "ab12",
        "SERVICE_SK_ab12",
    ] {
        let refused = scene.post(PATH, json!({"text": leaked})).await;
        assert_eq!(
            refused.refusal(),
            (400, "VALIDATION_ERROR".to_owned()),
            "{leaked}"
        );
        assert_eq!(refused.fields(), ["text"], "{leaked}");
    }
    // A key must not be sent in a path or a query.
    let listed = scene.send(Method::GET, PATH, None).await;
    assert_eq!(listed.status, 405);
}

async fn the_number_of_found_keys_is_bounded(backend: Backend) {
    let scene = Scene::new(backend).await;
    let prefix = text(&make(&scene, &scene.company, 1).await["prefix"]);
    let found = search(&scene, &prefix[..13]).await;
    assert_eq!(found["hasMore"], false);
    assert!(found["data"].as_array().unwrap().len() <= 100);
}
