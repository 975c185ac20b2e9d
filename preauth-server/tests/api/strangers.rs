//! Another company's records look as if they did not exist.

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use reqwest::Method;
use reqwest::header::HeaderMap;
use serde_json::json;
use test_support::{Answer, Backend, RawCaller, Sandbox, offer_body, on_each_database};

on_each_database! {
    a_foreign_id_answers_exactly_like_an_absent_one,
}

/// Another construction company's key.
pub(crate) async fn other_company(sandbox: &Sandbox) -> RawCaller {
    let platform = sandbox.platform();
    let base = "/api/platform/v1/companies";
    let company =
        json!({"cnpj": "45723001000100", "name": "Construtora Azul S.A.", "kind": "CONSTRUCTION"});
    let company = platform.post_json(base, &company).await.json();
    let base = format!("{base}/{}", company["id"].as_str().unwrap());
    let user = json!({
        "name": "Ana", "email": "ana@azul.example.com",
        "permissions": ["REQUEST_ADVANCES", "PRE_AUTHORIZE_ADVANCES"],
    });
    let user = platform
        .post_json(&format!("{base}/users"), &user)
        .await
        .json();
    let key = json!({
        "name": "ERP", "responsibleUserId": user["id"],
        "scopes": ["preauth:read", "preauth:write"],
    });
    let key = platform
        .post_json(&format!("{base}/api-keys"), &key)
        .await
        .json();
    RawCaller::new(sandbox.text("baseUrl"), key["key"].as_str())
}

/// An answer without what varies between requests.
fn comparable(answer: &Answer) -> (u16, String, HeaderMap) {
    let mut headers = answer.headers.clone();
    for name in [
        "x-request-id",
        "date",
        "x-ratelimit-remaining",
        "x-ratelimit-reset",
        "ratelimit",
    ] {
        if headers.contains_key(name) {
            headers.insert(name, "…".parse().unwrap());
        }
    }
    (answer.status, answer.text.clone(), headers)
}

// Contract: get-call/404
async fn a_foreign_id_answers_exactly_like_an_absent_one(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let owner = sandbox.caller("apiKey");
    for number in ["NF-1", "NF-2", "NF-3"] {
        let created = owner
            .post_json(PRE_AUTHORIZATIONS, &offer_body(&sandbox, number))
            .await;
        assert_eq!(created.status, 201, "{}", created.text);
    }
    owner.post(&format!("{PRE_AUTHORIZATIONS}/2/cancel")).await;
    let state = owner.get(PRE_AUTHORIZATIONS).await.text;
    for stranger in [
        other_company(&sandbox).await,
        sandbox.caller("branchApiKey"),
    ] {
        for (method, suffix) in [
            (Method::GET, ""),
            (Method::HEAD, ""),
            (Method::POST, "/cancel"),
        ] {
            let ask = async |id: u32| {
                let path = format!("{PRE_AUTHORIZATIONS}/{id}{suffix}");
                comparable(&stranger.send(method.clone(), &path, &[], None).await)
            };
            let absent = ask(999).await;
            assert_eq!(absent.0, 404);
            for id in 1..=3 {
                assert_eq!(ask(id).await, absent, "{method} {id}{suffix}");
            }
        }
        let list = stranger.get(PRE_AUTHORIZATIONS).await.json();
        assert_eq!(
            (&list["data"], &list["pagination"]["total"]),
            (&json!([]), &json!(0))
        );
    }
    assert_eq!(owner.get(PRE_AUTHORIZATIONS).await.text, state);
}
