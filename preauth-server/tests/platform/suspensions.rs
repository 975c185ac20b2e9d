//! Suspended companies: their keys are refused, and operations in progress continue.

use std::sync::Arc;

use preauth_client::wire::path::{PRE_AUTHORIZATIONS, cancel};
use preauth_server::http::platform::PREFIX;
use reqwest::Method;
use serde_json::{Value, json};
use test_support::{Answer, Backend, Home, RawCaller, Server, offer_body, on_each_database};

use crate::scene::{Scene, text};

on_each_database! {
    the_keys_of_a_suspended_company_are_forbidden_everywhere,
    a_head_offices_suspension_covers_its_branches,
    a_replay_is_forbidden_as_well,
    operations_in_progress_continue_during_a_suspension,
    a_suspension_is_kept_and_shown_until_it_ends,
}

const TOKEN: &str = "operator-token-of-the-tests";
const REASON: &str = "Contrato em revisão";

async fn suspend(scene: &Scene, company: &str) -> Value {
    let path = format!("/companies/{company}/suspend");
    let suspended = scene.post(&path, json!({"reason": REASON})).await;
    assert_eq!(suspended.status, 200, "{}", suspended.text);
    suspended.json()
}

async fn resume(scene: &Scene, company: &str) -> Value {
    let path = format!("/companies/{company}/resume");
    let resumed = scene.send(Method::POST, &path, None).await;
    assert_eq!(resumed.status, 200, "{}", resumed.text);
    resumed.json()
}

fn forbidden(answer: &Answer) {
    assert_eq!(answer.refusal(), (403, "RBAC_FORBIDDEN".to_owned()));
    // A valid key is counted, and the answer has the window's headers.
    assert!(!answer.header("x-ratelimit-remaining").is_empty());
}

/// Calls each operation of the integration API with one key.
async fn each_operation(scene: &Scene, caller: &RawCaller, id: i64) -> Vec<Answer> {
    let one = format!("{PRE_AUTHORIZATIONS}/{id}");
    let cancel = cancel(id.to_string().parse().unwrap());
    let offer = offer_body(&scene.sandbox, "NF-9");
    vec![
        caller.get(PRE_AUTHORIZATIONS).await,
        caller.get(&one).await,
        caller.post_json(PRE_AUTHORIZATIONS, &offer).await,
        // Forbidden before the body is found malformed.
        caller.post_json(PRE_AUTHORIZATIONS, &json!([])).await,
        caller.post(&cancel).await,
    ]
}

// Contract: error-code/RBAC_FORBIDDEN
async fn the_keys_of_a_suspended_company_are_forbidden_everywhere(backend: Backend) {
    let scene = Scene::new(backend).await;
    let id = scene.offer("NF-1").await;
    suspend(&scene, &scene.company).await;
    for key in ["apiKey", "readOnlyApiKey"] {
        let caller = scene.sandbox.caller(key);
        for answer in each_operation(&scene, &caller, id).await {
            forbidden(&answer);
        }
    }
    // Other reasons to refuse a key are reported first.
    let revoked = scene.sandbox.caller("revokedApiKey");
    let revoked = revoked.get(PRE_AUTHORIZATIONS).await;
    assert_eq!(revoked.refusal(), (401, "API_KEY_REVOKED".to_owned()));
    resume(&scene, &scene.company).await;
    let listed = scene.sandbox.caller("apiKey").get(PRE_AUTHORIZATIONS).await;
    assert_eq!(listed.json()["pagination"]["total"], 1);
}

async fn a_head_offices_suspension_covers_its_branches(backend: Backend) {
    let scene = Scene::new(backend).await;
    let branch = scene.company_of("branchCnpj").await;
    let of = async |key: &str| {
        let caller = scene.sandbox.caller(key);
        caller.get(PRE_AUTHORIZATIONS).await.status
    };
    suspend(&scene, &branch).await;
    assert_eq!((of("branchApiKey").await, of("apiKey").await), (403, 200));
    suspend(&scene, &scene.company).await;
    resume(&scene, &branch).await;
    assert_eq!((of("branchApiKey").await, of("apiKey").await), (403, 403));
    resume(&scene, &scene.company).await;
    assert_eq!((of("branchApiKey").await, of("apiKey").await), (200, 200));
}

async fn a_replay_is_forbidden_as_well(backend: Backend) {
    let scene = Scene::new(backend).await;
    let offer = offer_body(&scene.sandbox, "NF-1").to_string();
    let caller = scene.sandbox.caller("apiKey");
    let headers = [("idempotency-key", "pedido-0001")];
    let send = || caller.post_text(PRE_AUTHORIZATIONS, &headers, offer.clone());
    let first = send().await;
    assert_eq!(first.status, 201, "{}", first.text);
    suspend(&scene, &scene.company).await;
    forbidden(&send().await);
    resume(&scene, &scene.company).await;
    let again = send().await;
    assert_eq!(
        (again.status, again.header("idempotency-replayed")),
        (201, "true")
    );
    assert_eq!(again.text, first.text);
}

async fn operations_in_progress_continue_during_a_suspension(backend: Backend) {
    let scene = Scene::new(backend).await;
    let accepted = scene.offer("NF-1").await;
    let lapsing = scene.offer("NF-2").await;
    suspend(&scene, &scene.company).await;
    let whole_way = ["request", "approve", "release", "pay", "bill", "conclude"];
    scene.play(accepted, &whole_way).await;
    assert_eq!(scene.operation(accepted).await["status"], "CONCLUDED");
    // A direct advance is created by the platform itself.
    scene.advance("NF-3").await;
    let month = 31 * 24 * 60 * 60;
    let passed = scene.post("/sandbox/clock", json!({"advanceSeconds": month}));
    assert_eq!(passed.await.status, 200);
    let events = scene.events(3 + whole_way.len() + 1).await;
    let expired = events
        .iter()
        .find(|it| it["type"] == "pre_authorization.expired");
    assert_eq!(expired.unwrap()["data"]["anticipationId"], lapsing);
    assert_eq!(scene.operation(lapsing).await["status"], "REPROVED");
}

async fn a_suspension_is_kept_and_shown_until_it_ends(backend: Backend) {
    let scene = Scene::new(backend).await;
    let path = format!("/companies/{}", scene.company);
    assert_eq!(scene.get(&path).await["suspension"], Value::Null);
    let first = suspend(&scene, &scene.company).await;
    assert_eq!(first["suspension"]["reason"], REASON);
    let suspend = format!("{path}/suspend");
    let again = scene.post(&suspend, json!({"reason": "Outro"})).await;
    assert_eq!(again.json(), first, "the first suspension counts");
    assert_eq!(scene.get(&path).await, first);
    let listed = scene.get("/companies?limit=100").await;
    let mut listed = listed["data"].as_array().unwrap().iter();
    let listed = listed.find(|it| it["id"] == first["id"]);
    assert_eq!(listed, Some(&first));
    for _ in 0..2 {
        let resumed = resume(&scene, &scene.company).await;
        assert_eq!(resumed["suspension"], Value::Null);
    }
}

#[tokio::test]
async fn a_suspension_is_in_force_at_once_on_every_instance() {
    let home = Arc::new(Home::new(Backend::Postgres).await);
    // One after the other: the first creates the master key.
    let here = Server::start_in(Arc::clone(&home), TOKEN).await;
    let there = Server::start_in(home, TOKEN).await;
    let platform = RawCaller::new(&here.platform_url, Some(TOKEN));
    let post = async |path: &str, body: Value| {
        let done = platform.post_json(&format!("{PREFIX}{path}"), &body).await;
        assert!(done.status < 300, "{}", done.text);
        done.json()
    };
    let company = json!({"cnpj": "45723001000100", "name": "Azul", "kind": "CONSTRUCTION"});
    let company = format!(
        "/companies/{}",
        text(&post("/companies", company).await["id"])
    );
    let person = json!({
        "name": "Eva",
        "email": "eva@azul.example.com",
        "permissions": ["REQUEST_ADVANCES", "PRE_AUTHORIZE_ADVANCES"],
    });
    let eva = post(&format!("{company}/users"), person).await;
    let key = json!({"name": "ERP", "responsibleUserId": eva["id"], "scopes": ["preauth:read"]});
    let key = text(&post(&format!("{company}/api-keys"), key).await["key"]);
    let erps = [&here, &there].map(|server| RawCaller::new(&server.base_url, Some(&key)));
    for _ in 0..10 {
        for erp in &erps {
            assert_eq!(erp.get(PRE_AUTHORIZATIONS).await.status, 200);
        }
        post(&format!("{company}/suspend"), json!({"reason": REASON})).await;
        // The next request is forbidden, so the test needs no stopwatch.
        for erp in erps.iter().rev() {
            forbidden(&erp.get(PRE_AUTHORIZATIONS).await);
        }
        post(&format!("{company}/resume"), json!({})).await;
    }
}
