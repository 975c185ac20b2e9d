//! The JSON log: each line is one object, and no request puts a secret into it.

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use reqwest::Method;
use serde_json::{Value, json};
use test_support::{
    Backend, LOG_EVERYTHING, RawCaller, Sandbox, Server, exchange, offer_body, on_each_database,
    with,
};

on_each_database! {
    every_line_of_the_log_is_an_object_and_holds_no_secret,
}

const PLATFORM: &str = "/api/platform/v1";

async fn every_line_of_the_log_is_an_object_and_holds_no_secret(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let (ready, offer) = (sandbox.ready.clone(), offer_body(&sandbox, "NF-1"));
    let text = |name: &str| ready[name].as_str().unwrap().to_owned();
    let token = text("platformToken");
    let server = Server::start_with(sandbox.kill(), &token, &[LOG_EVERYTHING]).await;
    let mut secrets = secrets_of(&ready);
    be_busy_as_a_caller(&server, &text("apiKey"), &offer).await;
    secrets.extend(be_busy_as_an_operator(&server, &token, &text("companyCnpj")).await);
    be_careless(&server, &secrets).await;
    let log = server.stop();
    let lines: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line:?}")))
        .collect();
    assert!(lines.iter().all(Value::is_object));
    for target in ["request", "operation", "delivery"] {
        assert!(
            lines.iter().any(|line| line["target"] == target),
            "nothing of {target} was logged"
        );
    }
    for secret in &secrets {
        let leaks: Vec<_> = log
            .lines()
            .filter(|line| line.contains(secret))
            .take(3)
            .collect();
        assert!(leaks.is_empty(), "{secret} is in {leaks:#?}");
    }
}

/// Every credential and tax id of the ready file.
fn secrets_of(ready: &Value) -> Vec<String> {
    let members = ready.as_object().unwrap().iter();
    let secret = members.filter(|(name, _)| {
        ["Key", "Token", "Secret", "Cnpj"]
            .iter()
            .any(|end| name.ends_with(end))
    });
    let mut secrets: Vec<_> = secret
        .map(|(_, value)| value.as_str().unwrap().to_owned())
        .collect();
    secrets.push("11.444.777/0001-61".to_owned());
    secrets.push("financeiro@fornecedor.example.com".to_owned());
    secrets
}

/// Creates, repeats, reads and cancels offers.
async fn be_busy_as_a_caller(server: &Server, key: &str, offer: &Value) {
    let caller = RawCaller::new(&server.base_url, Some(key));
    let once = [("idempotency-key", "pedido-0001")];
    for _ in 0..2 {
        let created = caller
            .post_text(PRE_AUTHORIZATIONS, &once, offer.to_string())
            .await;
        assert_eq!(created.status, 201, "{}", created.text);
    }
    caller.post_json(PRE_AUTHORIZATIONS, offer).await;
    caller
        .post_json(
            PRE_AUTHORIZATIONS,
            &with(offer.clone(), "/supplier/cnpj", json!("11444777000162")),
        )
        .await;
    for path in ["", "/1", "/2", "/x", "?status=x"] {
        caller.get(&format!("{PRE_AUTHORIZATIONS}{path}")).await;
    }
    caller.post(&format!("{PRE_AUTHORIZATIONS}/1/cancel")).await;
}

/// Creates a key, a secret and a rotated secret; returns them.
async fn be_busy_as_an_operator(server: &Server, token: &str, cnpj: &str) -> Vec<String> {
    let platform = RawCaller::new(&server.platform_url, Some(token));
    let found = platform
        .get(&format!("{PLATFORM}/companies?cnpj={cnpj}"))
        .await
        .json();
    let company = format!(
        "{PLATFORM}/companies/{}",
        found["data"][0]["id"].as_str().unwrap()
    );
    let users = platform.get(&format!("{company}/users")).await.json();
    let mut users = users["data"].as_array().unwrap().iter();
    // The sandbox also has an inactive user with both permissions.
    let user = users
        .find(|user| user["active"] == true && user["permissions"].as_array().unwrap().len() == 2);
    let key = json!({
        "name": "ERP", "responsibleUserId": user.unwrap()["id"], "scopes": ["preauth:read"],
    });
    let key = platform
        .post_json(&format!("{company}/api-keys"), &key)
        .await;
    assert_eq!(key.status, 201, "{}", key.text);
    let put = |path: String, body: Value| {
        let platform = platform.clone();
        async move {
            let headers = [("content-type", "application/json")];
            platform
                .send(
                    Method::PUT,
                    &path,
                    &headers,
                    Some(body.to_string().into_bytes()),
                )
                .await
        }
    };
    let supplier = format!("{company}/blocked-suppliers/11444777000161");
    let blocked = put(supplier.clone(), json!({})).await;
    assert!(blocked.status < 300, "{}", blocked.text);
    platform.send(Method::DELETE, &supplier, &[], None).await;
    let secret = platform
        .post_json(
            &format!("{company}/webhook-endpoint/rotate-secret"),
            &json!({}),
        )
        .await;
    assert_eq!(secret.status, 200, "{}", secret.text);
    [&key.json()["key"], &secret.json()["secret"]]
        .map(|it| it.as_str().unwrap().to_owned())
        .to_vec()
}

/// Sends every secret where it does not belong.
async fn be_careless(server: &Server, secrets: &[String]) {
    for secret in secrets.iter().filter(|secret| !secret.contains('/')) {
        for url in [&server.base_url, &server.platform_url] {
            let stranger = RawCaller::new(url, Some(secret));
            stranger
                .get(&format!("{PRE_AUTHORIZATIONS}?key={secret}"))
                .await;
            stranger
                .get(&format!("{PRE_AUTHORIZATIONS}/{secret}"))
                .await;
            stranger
                .get(&format!("{PLATFORM}/companies/{secret}"))
                .await;
            let headers = [("x-secret", secret.as_str()), ("idempotency-key", secret)];
            stranger
                .post_text(PRE_AUTHORIZATIONS, &headers, format!("{{\"{secret}\":"))
                .await;
            exchange(
                url,
                format!("{secret} /{secret} HTTP/1.1\r\n{secret}: {secret}\r\n\r\n").as_bytes(),
            )
            .await;
            exchange(url, format!("{secret}\0\r\n\r\n").as_bytes()).await;
        }
    }
}
