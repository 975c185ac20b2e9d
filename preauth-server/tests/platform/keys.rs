//! API keys: who gets them, how long they are valid, and how they are revoked.

use std::sync::Arc;

use chrono::TimeDelta;
use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use preauth_core::value::Timestamp;
use preauth_server::http::platform::PREFIX;
use reqwest::Method;
use serde_json::{Value, json};
use test_support::{Backend, Home, RawCaller, Server, on_each_database};

use crate::scene::{Scene, text};

on_each_database! {
    a_key_needs_an_active_user_with_both_permissions,
    a_key_has_scopes_on_offer_and_a_validity_on_offer,
    a_key_is_shown_once_and_listed_by_its_prefix,
    a_revoked_key_is_refused_from_then_on,
    a_key_ends_when_its_user_may_no_more,
}

const TOKEN: &str = "operator-token-of-the-tests";
const BOTH: [&str; 2] = ["REQUEST_ADVANCES", "PRE_AUTHORIZE_ADVANCES"];

/// Creates a user of a company; returns its id.
async fn user(scene: &Scene, company: &str, permissions: &[&str], email: &str) -> String {
    let body = json!({"name": "Eva", "email": email, "permissions": permissions});
    text(
        &scene
            .make(&format!("/companies/{company}/users"), body)
            .await["id"],
    )
}

fn request(user: &str) -> Value {
    json!({"name": "ERP", "responsibleUserId": user, "scopes": ["preauth:read", "preauth:write"]})
}

/// The demo company's path for keys, and a user who may be responsible for one.
async fn office(scene: &Scene) -> (String, String) {
    let user = user(scene, &scene.company, &BOTH, "eva@construtora.example.com").await;
    (format!("/companies/{}/api-keys", scene.company), user)
}

// Contract: authentication/made-in-the-platform authentication/responsible-user
// Contract: error-code-of-ours/RESPONSIBLE_USER_REFUSED
async fn a_key_needs_an_active_user_with_both_permissions(backend: Backend) {
    let scene = Scene::new(backend).await;
    let (keys, eva) = office(&scene).await;
    let branch = scene.company_of("branchCnpj").await;
    let elsewhere = user(&scene, &branch, &BOTH, "eva@filial.example.com").await;
    let gone = user(
        &scene,
        &scene.company,
        &BOTH,
        "gone@construtora.example.com",
    )
    .await;
    let path = format!("/users/{gone}");
    let left = scene.send(Method::PATCH, &path, Some(json!({"active": false})));
    assert_eq!(left.await.status, 200);
    let mut refused = vec![
        elsewhere,
        gone,
        "018f2f3a-0000-7000-8000-000000000001".to_owned(),
    ];
    for (n, permissions) in [&BOTH[..1], &BOTH[1..], &[]].iter().enumerate() {
        let email = format!("lacking{n}@construtora.example.com");
        refused.push(user(&scene, &scene.company, permissions, &email).await);
    }
    for user in refused {
        let answer = scene.post(&keys, request(&user)).await;
        assert_eq!(
            answer.refusal(),
            (422, "RESPONSIBLE_USER_REFUSED".to_owned()),
            "{user}"
        );
    }
    scene.make(&keys, request(&eva)).await;
}

// Contract: authentication/scopes authentication/validity authentication/notes:read
// Contract: limit/validity-of-a-key
async fn a_key_has_scopes_on_offer_and_a_validity_on_offer(backend: Backend) {
    let scene = Scene::new(backend).await;
    let (keys, eva) = office(&scene).await;
    for (field, value) in [
        ("scopes", json!([])),
        ("scopes", json!(null)),
        ("scopes", json!(["notes:read"])),
        ("scopes", json!(["preauth:read", "admin"])),
        ("validityDays", json!(0)),
        ("validityDays", json!(31)),
        ("validityDays", json!(366)),
        ("validityDays", json!("30")),
        ("validityDays", json!(30.5)),
    ] {
        let mut body = request(&eva);
        body[field] = value.clone();
        let answer = scene.post(&keys, body).await;
        assert_eq!(
            answer.refusal(),
            (400, "VALIDATION_ERROR".to_owned()),
            "{field} {value}"
        );
        assert!(
            answer.fields()[0].starts_with(field),
            "{:?}",
            answer.fields()
        );
    }
    for (wanted, days) in [
        (Value::Null, 365),
        (json!(30), 30),
        (json!(90), 90),
        (json!(180), 180),
        (json!(365), 365),
    ] {
        let mut body = request(&eva);
        body["validityDays"] = wanted;
        body["scopes"] = json!(["preauth:read"]);
        let key = scene.make(&keys, body).await;
        let at = |name: &str| Timestamp::parse(key[name].as_str().unwrap()).unwrap();
        assert_eq!(
            at("expiresAt").since(at("createdAt")),
            TimeDelta::days(days)
        );
        assert_eq!(key["scopes"], json!(["preauth:read"]));
    }
}

// Contract: authentication/prefix authentication/shown-once
async fn a_key_is_shown_once_and_listed_by_its_prefix(backend: Backend) {
    let scene = Scene::new(backend).await;
    let (keys, eva) = office(&scene).await;
    let answer = scene.post(&keys, request(&eva)).await;
    assert_eq!(answer.header("cache-control"), "no-store");
    let made = answer.json();
    let clear = text(&made["key"]);
    assert!(clear.starts_with("service_sk_"), "{clear}");
    let prefix = text(&made["prefix"]);
    assert!(
        clear.starts_with(&prefix) && prefix.len() < clear.len() / 2,
        "{prefix}"
    );
    let path = format!("/api-keys/{}", text(&made["id"]));
    let unused = scene.get(&path).await;
    let mut expected = made.clone();
    expected.as_object_mut().unwrap().remove("key");
    assert_eq!(unused, expected);
    assert_eq!(unused["state"], "ACTIVE");
    assert_eq!(unused["lastUsedAt"], Value::Null);
    let erp = RawCaller::new(scene.sandbox.text("baseUrl"), Some(&clear));
    assert_eq!(erp.get(PRE_AUTHORIZATIONS).await.status, 200);
    let listed = scene.get(&keys).await;
    let newest = &listed["data"][0];
    assert_eq!(newest["id"], made["id"]);
    assert!(newest["lastUsedAt"].is_string(), "{newest}");
    assert!(!listed.to_string().contains(&clear));
    let states: Vec<_> = listed["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["state"])
        .collect();
    for state in ["ACTIVE", "EXPIRED", "REVOKED"] {
        assert!(
            states.contains(&&json!(state)),
            "{state} is not in {states:?}"
        );
    }
}

// Contract: authentication/401
async fn a_revoked_key_is_refused_from_then_on(backend: Backend) {
    let scene = Scene::new(backend).await;
    let (keys, eva) = office(&scene).await;
    let made = scene.make(&keys, request(&eva)).await;
    let erp = RawCaller::new(scene.sandbox.text("baseUrl"), made["key"].as_str());
    assert_eq!(erp.get(PRE_AUTHORIZATIONS).await.status, 200);
    let path = format!("/api-keys/{}", text(&made["id"]));
    for _ in 0..2 {
        let revoked = scene.send(Method::DELETE, &path, None).await;
        assert_eq!((revoked.status, revoked.text.as_str()), (204, ""));
        let refused = erp.get(PRE_AUTHORIZATIONS).await;
        assert_eq!(refused.refusal(), (401, "API_KEY_REVOKED".to_owned()));
    }
    let shown = scene.get(&path).await;
    assert_eq!(shown["state"], "REVOKED");
    assert!(shown["revokedAt"].is_string());
    let expired = scene
        .sandbox
        .caller("expiredApiKey")
        .get(PRE_AUTHORIZATIONS)
        .await;
    assert_eq!(expired.refusal(), (401, "API_KEY_EXPIRED".to_owned()));
}

async fn a_key_ends_when_its_user_may_no_more(backend: Backend) {
    let scene = Scene::new(backend).await;
    let (keys, eva) = office(&scene).await;
    let made = scene.make(&keys, request(&eva)).await;
    let erp = RawCaller::new(scene.sandbox.text("baseUrl"), made["key"].as_str());
    for (change, expected) in [
        (
            json!({"permissions": [BOTH[0]]}),
            (403, "INTEGRATION_RESPONSIBLE_FORBIDDEN"),
        ),
        (
            json!({"permissions": BOTH, "active": false}),
            (403, "RBAC_FORBIDDEN"),
        ),
        (json!({"active": true}), (200, "")),
    ] {
        let changed = scene
            .send(Method::PATCH, &format!("/users/{eva}"), Some(change))
            .await;
        assert_eq!(changed.status, 200, "{}", changed.text);
        let answer = erp.get(PRE_AUTHORIZATIONS).await;
        assert_eq!(answer.refusal(), (expected.0, expected.1.to_owned()));
    }
}

#[tokio::test]
async fn a_revocation_is_in_force_at_once_on_every_instance() {
    let home = Arc::new(Home::new(Backend::Postgres).await);
    // One after the other: the first creates the master key.
    let here = Server::start_in(Arc::clone(&home), TOKEN).await;
    let there = Server::start_in(home, TOKEN).await;
    let platform = RawCaller::new(&here.platform_url, Some(TOKEN));
    let post = async |path: &str, body: Value| {
        let made = platform.post_json(&format!("{PREFIX}{path}"), &body).await;
        assert_eq!(made.status, 201, "{}", made.text);
        made.json()
    };
    let company = json!({"cnpj": "45723001000100", "name": "Azul", "kind": "CONSTRUCTION"});
    let company = text(&post("/companies", company).await["id"]);
    let person = json!({"name": "Eva", "email": "eva@azul.example.com", "permissions": BOTH});
    let eva = post(&format!("/companies/{company}/users"), person).await;
    let path = format!("/companies/{company}/api-keys");
    for _ in 0..10 {
        let made = post(&path, request(&text(&eva["id"]))).await;
        let key = text(&made["key"]);
        let erps = [&here, &there].map(|server| RawCaller::new(&server.base_url, Some(&key)));
        for erp in &erps {
            assert_eq!(erp.get(PRE_AUTHORIZATIONS).await.status, 200);
        }
        let revoked = format!("{PREFIX}/api-keys/{}", text(&made["id"]));
        let revoked = platform.send(Method::DELETE, &revoked, &[], None).await;
        assert_eq!(revoked.status, 204);
        // The next request is refused, so the test needs no stopwatch.
        for erp in erps.iter().rev() {
            let refused = erp.get(PRE_AUTHORIZATIONS).await;
            assert_eq!(refused.refusal(), (401, "API_KEY_REVOKED".to_owned()));
        }
    }
}
