//! Webhook endpoints: ownership, permitted addresses, and signing secrets.

use chrono::TimeDelta;
use preauth_core::value::Timestamp;
use preauth_server::clock::{Clock as _, SystemClock};
use reqwest::Method;
use serde_json::{Value, json};
use test_support::{Answer, Backend, on_each_database};
use webhook_verify::{SIGNATURE_HEADER, Secret, Verifier};

use crate::scene::{Scene, text};

on_each_database! {
    an_endpoint_belongs_to_a_head_office,
    an_endpoint_is_refused_where_webhooks_are_not_sent,
    a_secret_is_shown_when_it_is_made_and_never_again,
    a_rotated_secret_signs_from_the_next_delivery_on,
}

async fn put(scene: &Scene, company: &str, url: &str) -> Answer {
    let body = json!({"url": url, "events": ["anticipation.paid"]});
    let path = format!("/companies/{company}/webhook-endpoint");
    scene.send(Method::PUT, &path, Some(body)).await
}

// Contract: endpoint/one error-code-of-ours/ENDPOINT_NOT_HEAD_OFFICE
async fn an_endpoint_belongs_to_a_head_office(backend: Backend) {
    let scene = Scene::new(backend).await;
    let branch = scene.company_of("branchCnpj").await;
    let refused = put(&scene, &branch, &scene.receiver.url()).await;
    assert_eq!(
        refused.refusal(),
        (422, "ENDPOINT_NOT_HEAD_OFFICE".to_owned())
    );
    // A head office has one endpoint: a second address replaces the first.
    let again = put(&scene, &scene.company, "http://127.0.0.1:9/other").await;
    assert_eq!(again.status, 200, "{}", again.text);
    let path = format!("/companies/{}/webhook-endpoint", scene.company);
    let kept = scene.get(&path).await;
    assert_eq!(kept["url"], "http://127.0.0.1:9/other");
    assert_eq!(kept["events"], json!(["anticipation.paid"]));
}

// Contract: endpoint/public-address endpoint/credentials error-code-of-ours/ENDPOINT_URL_REFUSED
async fn an_endpoint_is_refused_where_webhooks_are_not_sent(backend: Backend) {
    let scene = Scene::new(backend).await;
    let supplier = scene.company_of("supplierCnpj").await;
    for url in [
        "https://user:password@hooks.construtora.com.br/",
        "https://10.0.0.1/",
        "https://192.168.1.10/hook",
        "https://169.254.169.254/latest/meta-data",
        "ftp://hooks.construtora.com.br/",
        "hooks.construtora.com.br",
    ] {
        let refused = put(&scene, &supplier, url).await;
        assert_eq!(
            refused.refusal(),
            (422, "ENDPOINT_URL_REFUSED".to_owned()),
            "{url}"
        );
    }
}

// Contract: endpoint/secret
async fn a_secret_is_shown_when_it_is_made_and_never_again(backend: Backend) {
    let scene = Scene::new(backend).await;
    let supplier = scene.company_of("supplierCnpj").await;
    let made = put(&scene, &supplier, &scene.receiver.url()).await;
    assert_eq!(
        (made.status, made.header("cache-control")),
        (201, "no-store")
    );
    let secret = text(&made.json()["secret"]);
    assert!(
        secret.starts_with("whsec_") && secret.len() > 40,
        "{secret}"
    );
    let path = format!("/companies/{supplier}/webhook-endpoint");
    assert_eq!(scene.get(&path).await.get("secret"), None);
    let changed = put(&scene, &supplier, &scene.receiver.url()).await;
    assert_eq!(changed.json().get("secret"), None);
}

// Contract: endpoint/rotation
async fn a_rotated_secret_signs_from_the_next_delivery_on(backend: Backend) {
    let scene = Scene::new(backend).await;
    let path = format!("/companies/{}/webhook-endpoint", scene.company);
    let old = scene.sandbox.text("webhookSecret").to_owned();
    scene.offer("NF-1").await;
    scene.receiver.arrived(1, &old).await;
    let new = rotate(&scene, &path, json!({"overlapHours": 1})).await;
    assert_ne!(new, old);
    let until = text(&scene.get(&path).await["earlierSecretUntil"]);
    let left = Timestamp::parse(&until).unwrap().since(SystemClock.now());
    assert!(
        TimeDelta::zero() < left && left <= TimeDelta::hours(1),
        "{left}"
    );
    scene.offer("NF-2").await;
    // While both secrets are valid, either verifies.
    let both = scene.receiver.requests(2).await.remove(1);
    assert!(verifies(&both, &old) && verifies(&both, &new));
    let newest = rotate(&scene, &path, json!({})).await;
    assert_eq!(scene.get(&path).await["earlierSecretUntil"], Value::Null);
    scene.offer("NF-3").await;
    let last = scene.receiver.requests(3).await.remove(2);
    assert!(verifies(&last, &newest));
    assert!(!verifies(&last, &new) && !verifies(&last, &old));
}

async fn rotate(scene: &Scene, path: &str, body: Value) -> String {
    let rotated = scene.post(&format!("{path}/rotate-secret"), body).await;
    assert_eq!(rotated.status, 200, "{}", rotated.text);
    text(&rotated.json()["secret"])
}

fn verifies(request: &wiremock::Request, secret: &str) -> bool {
    let verifier = Verifier::new(Secret::parse(secret).unwrap());
    let signature = request.headers.get(SIGNATURE_HEADER).unwrap().as_bytes();
    verifier.verify_now(Some(signature), &request.body).is_ok()
}
