//! Keys, scopes and responsible users; rate limits.

use preauth_client::wire::path::{BATCH, EVENTS, PRE_AUTHORIZATIONS, VALIDATE};
use reqwest::Method;
use test_support::{Backend, RawCaller, Sandbox, offer_body, on_each_database};

on_each_database! {
    each_kind_of_key_gets_its_own_answer,
    each_operation_asks_for_its_scope,
    only_one_well_formed_bearer_key_counts,
    every_answer_reports_the_rate_window_until_429,
    each_of_the_four_operations_reports_the_rate_window,
    a_revoked_key_and_a_user_without_permission_lose_access_at_once,
}

// Contract: every-call/401-403-429-500 authentication/preauth:read authentication/preauth:write
// Contract: authentication/notes:read authentication/401 authentication/403
// Contract: error-code/API_KEY_REVOKED error-code/API_KEY_EXPIRED
// Contract: error-code/INTEGRATION_SCOPE_FORBIDDEN error-code/INTEGRATION_RESPONSIBLE_FORBIDDEN
async fn each_kind_of_key_gets_its_own_answer(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let offer = offer_body(&sandbox, "NF-1").to_string();
    for (key, read, write) in [
        (
            "readOnlyApiKey",
            (200, ""),
            (403, "INTEGRATION_SCOPE_FORBIDDEN"),
        ),
        (
            "writeOnlyApiKey",
            (403, "INTEGRATION_SCOPE_FORBIDDEN"),
            (400, "VALIDATION_ERROR"),
        ),
        (
            "legacyApiKey",
            (403, "INTEGRATION_SCOPE_FORBIDDEN"),
            (403, "INTEGRATION_SCOPE_FORBIDDEN"),
        ),
        (
            "expiredApiKey",
            (401, "API_KEY_EXPIRED"),
            (401, "API_KEY_EXPIRED"),
        ),
        (
            "revokedApiKey",
            (401, "API_KEY_REVOKED"),
            (401, "API_KEY_REVOKED"),
        ),
        (
            "forbiddenUserApiKey",
            (403, "INTEGRATION_RESPONSIBLE_FORBIDDEN"),
            (403, "INTEGRATION_RESPONSIBLE_FORBIDDEN"),
        ),
        (
            "deactivatedUserApiKey",
            (403, "RBAC_FORBIDDEN"),
            (403, "RBAC_FORBIDDEN"),
        ),
    ] {
        let caller = sandbox.caller(key);
        let (status, code) = read;
        assert_eq!(
            caller.get(PRE_AUTHORIZATIONS).await.refusal(),
            (status, code.to_owned()),
            "{key}"
        );
        let (status, code) = write;
        // The body is malformed on purpose: missing permission is reported first.
        let answer = caller.post_text(PRE_AUTHORIZATIONS, &[], "{").await;
        assert_eq!(answer.refusal(), (status, code.to_owned()), "{key}");
    }
    let answer = sandbox
        .caller("writeOnlyApiKey")
        .post_text(PRE_AUTHORIZATIONS, &[], offer)
        .await;
    assert_eq!(answer.status, 201, "{}", answer.text);
}

// Contract: list-call/scope create-call/scope get-call/scope cancel-call/scope
// Contract: authentication/preauth:read authentication/preauth:write
async fn each_operation_asks_for_its_scope(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let body = offer_body(&sandbox, "NF-1").to_string();
    let one = format!("{PRE_AUTHORIZATIONS}/1");
    let cancel = format!("{one}/cancel");
    let steps = [
        ("writeOnlyApiKey", Method::POST, PRE_AUTHORIZATIONS, 201),
        ("readOnlyApiKey", Method::POST, PRE_AUTHORIZATIONS, 403),
        ("readOnlyApiKey", Method::GET, PRE_AUTHORIZATIONS, 200),
        ("writeOnlyApiKey", Method::GET, PRE_AUTHORIZATIONS, 403),
        ("readOnlyApiKey", Method::GET, &one, 200),
        ("writeOnlyApiKey", Method::GET, &one, 403),
        ("readOnlyApiKey", Method::POST, &cancel, 403),
        ("writeOnlyApiKey", Method::POST, &cancel, 201),
        ("readOnlyApiKey", Method::POST, VALIDATE, 403),
        // The invoice of what was cancelled is free.
        ("writeOnlyApiKey", Method::POST, VALIDATE, 200),
        ("readOnlyApiKey", Method::POST, BATCH, 403),
        // A create is no batch.
        ("writeOnlyApiKey", Method::POST, BATCH, 400),
        ("readOnlyApiKey", Method::GET, EVENTS, 200),
        ("writeOnlyApiKey", Method::GET, EVENTS, 403),
    ];
    for (key, method, path, status) in steps {
        let caller = sandbox.caller(key);
        let headers = [("content-type", "application/json")];
        let body = Some(body.clone().into_bytes());
        let answer = caller.send(method, path, &headers, body).await;
        assert_eq!(answer.status, status, "{key} {path}: {}", answer.text);
        let is_forbidden = answer.code() == "INTEGRATION_SCOPE_FORBIDDEN";
        assert_eq!(is_forbidden, status == 403, "{key} {path}: {}", answer.text);
    }
}

// Contract: every-call/Authorization authentication/key
async fn only_one_well_formed_bearer_key_counts(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let stranger = sandbox.stranger();
    let key = sandbox.text("apiKey").to_owned();
    let typo = format!("{}0", &key[..key.len() - 1]);
    let typo = if typo == key {
        format!("{}1", &key[..key.len() - 1])
    } else {
        typo
    };
    let two = format!("Bearer {key}, Bearer {key}");
    for credential in [
        "Bearer ",
        "Bearer",
        &format!("Bearer {typo}"),
        &format!("Bearer {}", key.trim_start_matches("service_sk_")),
        &format!("Basic {key}"),
        &two,
        "Bearer \u{e9}",
    ] {
        let headers = [("authorization", credential)];
        let answer = stranger
            .send(Method::GET, PRE_AUTHORIZATIONS, &headers, None)
            .await;
        assert_eq!(
            answer.refusal(),
            (401, "API_KEY_INVALID".to_owned()),
            "{credential}"
        );
        assert_eq!(answer.header("www-authenticate"), "Bearer");
        assert_eq!(
            answer.header("x-ratelimit-limit"),
            "",
            "a stranger has no window"
        );
    }
    for headers in [vec![("x-api-key", key.as_str())], vec![]] {
        let path = format!("{PRE_AUTHORIZATIONS}?api_key={key}");
        let answer = stranger.send(Method::GET, &path, &headers, None).await;
        assert_eq!(answer.status, 401);
    }
    let twice = RawCaller::new(sandbox.text("baseUrl"), Some(&key));
    let headers = [("authorization", "Bearer other")];
    assert_eq!(
        twice
            .send(Method::GET, PRE_AUTHORIZATIONS, &headers, None)
            .await
            .status,
        401
    );
    for credential in [format!("bearer {key}"), format!("Bearer  {key}")] {
        let headers = [("authorization", credential.as_str())];
        let answer = stranger
            .send(Method::GET, PRE_AUTHORIZATIONS, &headers, None)
            .await;
        assert_eq!(answer.status, 200, "{credential}");
    }
    let log = sandbox.log();
    let story = log.split_once("From here on").unwrap().1;
    assert!(!story.contains(&key), "no key is ever logged");
}

// Contract: error-code/RATE_LIMITED limit/requests limit/Retry-After
async fn every_answer_reports_the_rate_window_until_429(backend: Backend) {
    let sandbox = Sandbox::start_with(backend, &["--rate-limit", "3"]).await;
    let caller = sandbox.caller("apiKey");
    let paths = [
        PRE_AUTHORIZATIONS,
        "/api/integration/v1/pre-authorizations/abc",
        PRE_AUTHORIZATIONS,
    ];
    for (path, remaining) in paths.into_iter().zip(["2", "1", "0"]) {
        let answer = caller.get(path).await;
        assert_eq!(answer.header("x-ratelimit-limit"), "3", "{}", answer.text);
        assert_eq!(answer.header("x-ratelimit-remaining"), remaining);
        let reset: u64 = answer.header("x-ratelimit-reset").parse().unwrap();
        assert!((1..=60).contains(&reset), "{reset}");
        assert_eq!(answer.header("ratelimit-policy"), "\"default\";q=3;w=60");
        assert_eq!(
            answer.header("ratelimit"),
            format!("\"default\";r={remaining};t={reset}")
        );
    }
    let refused = caller.get(PRE_AUTHORIZATIONS).await;
    assert_eq!(refused.refusal(), (429, "RATE_LIMITED".to_owned()));
    let wait: u64 = refused.header("retry-after").parse().unwrap();
    assert!((1..=60).contains(&wait), "{wait}");
    assert_eq!(refused.header("x-ratelimit-remaining"), "0");
    let other = sandbox
        .caller("readOnlyApiKey")
        .get(PRE_AUTHORIZATIONS)
        .await;
    assert_eq!(other.status, 200, "each key has a window of its own");
}

// Contract: every-call/X-RateLimit-Limit every-call/X-RateLimit-Remaining
// Contract: every-call/X-RateLimit-Reset
async fn each_of_the_four_operations_reports_the_rate_window(backend: Backend) {
    let sandbox = Sandbox::start_with(backend, &["--rate-limit", "120"]).await;
    let caller = sandbox.caller("apiKey");
    let body = offer_body(&sandbox, "NF-1");
    let one = format!("{PRE_AUTHORIZATIONS}/1");
    let answers = [
        (201, caller.post_json(PRE_AUTHORIZATIONS, &body).await),
        (200, caller.get(&one).await),
        (200, caller.get(PRE_AUTHORIZATIONS).await),
        (201, caller.post(&format!("{one}/cancel")).await),
        (201, caller.post(&format!("{one}/cancel")).await),
    ];
    for (status, answer) in answers {
        assert_eq!(answer.status, status, "{}", answer.text);
        let number = |name| answer.header(name).parse::<u64>().unwrap();
        assert_eq!(number("x-ratelimit-limit"), 120);
        assert!(number("x-ratelimit-remaining") < 120);
        assert!((1..=60).contains(&number("x-ratelimit-reset")));
    }
}

// Contract: authentication/403 error-code/RBAC_FORBIDDEN
async fn a_revoked_key_and_a_user_without_permission_lose_access_at_once(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let platform = sandbox.platform();
    let companies = platform
        .get("/api/platform/v1/companies?limit=100")
        .await
        .json();
    let find = |cnpj: &str| {
        let all = companies["data"].as_array().unwrap().clone();
        all.into_iter()
            .find(|company| company["cnpj"] == cnpj)
            .unwrap()["id"]
            .clone()
    };
    let company = find(sandbox.text("companyCnpj"));
    let base = format!("/api/platform/v1/companies/{}", company.as_str().unwrap());
    let user = serde_json::json!({
        "name": "Eva", "email": "eva@construtora.example.com",
        "permissions": ["REQUEST_ADVANCES", "PRE_AUTHORIZE_ADVANCES"],
    });
    let user = platform.post_json(&format!("{base}/users"), &user).await;
    assert_eq!(user.status, 201, "{}", user.text);
    let user_id = user.json()["id"].as_str().unwrap().to_owned();
    let key = serde_json::json!({"name": "nova", "responsibleUserId": user_id, "scopes": ["preauth:read"]});
    let key = platform.post_json(&format!("{base}/api-keys"), &key).await;
    assert_eq!(key.status, 201, "{}", key.text);
    let key = key.json();
    let caller = RawCaller::new(sandbox.text("baseUrl"), key["key"].as_str());
    assert_eq!(caller.get(PRE_AUTHORIZATIONS).await.status, 200);

    let user_path = format!("/api/platform/v1/users/{user_id}");
    for (change, refusal) in [
        (
            serde_json::json!({"permissions": ["REQUEST_ADVANCES"]}),
            "INTEGRATION_RESPONSIBLE_FORBIDDEN",
        ),
        (serde_json::json!({"active": false}), "RBAC_FORBIDDEN"),
    ] {
        let headers = [("content-type", "application/json")];
        let body = Some(change.to_string().into_bytes());
        let changed = platform
            .send(Method::PATCH, &user_path, &headers, body)
            .await;
        assert_eq!(changed.status, 200, "{}", changed.text);
        assert_eq!(
            caller.get(PRE_AUTHORIZATIONS).await.refusal(),
            (403, refusal.to_owned())
        );
    }
    let path = format!("/api/platform/v1/api-keys/{}", key["id"].as_str().unwrap());
    assert_eq!(
        platform.send(Method::DELETE, &path, &[], None).await.status,
        204
    );
    let refused = caller.get(PRE_AUTHORIZATIONS).await;
    assert_eq!(refused.refusal(), (401, "API_KEY_REVOKED".to_owned()));
}
