//! Named operators: what each role permits, and how long a token opens anything.

use std::sync::Arc;
use std::time::Duration;

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use preauth_server::http::platform::{PREFIX, routes};
use reqwest::Method;
use serde_json::{Value, json};
use test_support::{
    Answer, Backend, Home, LOG_EVERYTHING, RawCaller, Sandbox, Server, connect, first_answer,
    on_each_database, travel,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::routes::{CLOCK, is_read};
use crate::scene::{Scene, text};

on_each_database! {
    every_route_refuses_lower_roles_than_its_own_and_no_others,
    a_token_is_shown_once_and_opens_until_it_is_revoked,
    a_token_is_refused_from_its_end_on,
    a_name_is_given_once,
    of_two_names_that_look_the_same_one_is_given,
    a_token_revoked_while_the_body_arrives_does_nothing,
    the_log_names_the_operator_and_has_no_token,
    a_history_names_the_operator_and_nothing_else_does,
}

const ROOT: &str = "operator-token-of-the-tests";
const NOBODY: &str = "018f2f3a-0000-7000-8000-000000000001";
/// A body that takes this long is slow.
const SLOW: Duration = Duration::from_millis(1_200);
const ROLES: [&str; 3] = ["VIEWER", "OPERATOR", "ADMIN"];

/// Requests for admins only, by the beginning of the path; anything else that is no GET is an operator's.
const OF_ADMINS: [&str; 9] = [
    "/operators",
    "/personal-data",
    "/companies",
    "/users",
    "/api-keys",
    "/companies/{id}/users",
    "/companies/{id}/api-keys",
    "/master-keys",
    "/sandbox",
];
const OF_OPERATORS: [&str; 3] = [
    "/companies/{id}/webhook-endpoint",
    "/companies/{id}/deliveries",
    "/companies/{id}/notices",
];

/// The lowest role that a route permits, as docs/decisions.md has it.
fn minimum(method: &str, path: &str) -> &'static str {
    let begins = |starts: &[&str]| starts.iter().any(|start| path.starts_with(start));
    match method {
        "GET" | "HEAD" => "VIEWER",
        _ if is_read(path) => "VIEWER",
        _ if begins(&OF_OPERATORS) => "OPERATOR",
        _ if begins(&OF_ADMINS) => "ADMIN",
        _ => "OPERATOR",
    }
}

/// An operator's caller, and the answer that showed the token.
async fn add(admin: &RawCaller, url: &str, name: &str, role: &str) -> (RawCaller, Value) {
    let body = json!({"name": name, "role": role});
    let added = admin.post_json(&format!("{PREFIX}/operators"), &body).await;
    assert_eq!(added.status, 201, "{}", added.text);
    let added = added.json();
    let token = text(&added["token"]);
    (RawCaller::new(url, Some(&token)), added)
}

async fn revoke(admin: &RawCaller, operator: &Value) -> Answer {
    let id = text(&operator["id"]);
    admin.post(&format!("{PREFIX}/operators/{id}/revoke")).await
}

async fn calling(caller: &RawCaller) -> Answer {
    caller.get(&format!("{PREFIX}/calling-operator")).await
}

fn is_refused(answer: &Answer) -> bool {
    answer.refusal() == (401, "PLATFORM_TOKEN_INVALID".to_owned())
}

// Contract: error-code-of-ours/OPERATOR_FORBIDDEN
async fn every_route_refuses_lower_roles_than_its_own_and_no_others(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let url = sandbox.text("platformUrl");
    let root = sandbox.platform();
    let description = root.get("/openapi.json").await.json();
    let clock = ("POST".to_owned(), format!("{PREFIX}{CLOCK}"));
    let routes: Vec<_> = routes().into_iter().chain([clock]).collect();
    for (rank, role) in ROLES.iter().enumerate() {
        let (caller, _) = add(&root, url, role, role).await;
        for (method, template) in &routes {
            let minimum = minimum(method, template.strip_prefix(PREFIX).unwrap());
            let documented = method.to_lowercase().replace("head", "get");
            let documented = &description["paths"][template][documented];
            assert_eq!(documented["x-minimum-role"], minimum, "{method} {template}");
            let needed = ROLES.iter().position(|it| *it == minimum).unwrap();
            let is_described = !documented["responses"]["403"].is_null();
            assert_eq!(is_described, needed > 0, "{method} {template}");
            // Nothing has these ids, so that nothing is changed for the next route.
            let is_number = ["operations", "extensions", "invoices", "payment-orders"]
                .iter()
                .any(|kind| template.starts_with(&format!("{PREFIX}/{kind}/")));
            let id = if is_number { "999999" } else { NOBODY };
            let path = template
                .replace("{id}", id)
                .replace("{cnpj}", "11444777000161");
            let verb: Method = method.parse().unwrap();
            let answer = caller.send(verb, &path, &[], None).await;
            if rank < needed {
                assert_eq!(answer.refusal(), (403, "OPERATOR_FORBIDDEN".to_owned()));
            } else {
                let is_let_in = ![401, 403].contains(&answer.status) && answer.status < 500;
                assert!(is_let_in, "{role} {method} {path}: {}", answer.text);
            }
        }
    }
}

async fn a_token_is_shown_once_and_opens_until_it_is_revoked(backend: Backend) {
    let home = Arc::new(Home::new(backend).await);
    let server = Server::start_in(Arc::clone(&home), ROOT).await;
    // SQLite has one instance.
    let other = match backend {
        Backend::Postgres => Some(Server::start_in(home, ROOT).await),
        Backend::Sqlite => None,
    };
    let url = other
        .as_ref()
        .map_or(&server.platform_url, |it| &it.platform_url);
    let root = RawCaller::new(&server.platform_url, Some(ROOT));
    let me = calling(&root).await.json();
    let expected = json!({"id": null, "name": "root", "role": "ADMIN", "validUntil": null});
    assert_eq!(me, expected);

    let once = [("idempotency-key", "operador-ana-1")];
    let body = json!({"name": " Ana Souza ", "role": "OPERATOR"});
    let path = format!("{PREFIX}/operators");
    let added = root.post_text(&path, &once, body.to_string()).await;
    assert_eq!(added.status, 201, "{}", added.text);
    assert_eq!(added.header("cache-control"), "no-store");
    let shown = added.json();
    let token = text(&shown["token"]);
    let digits = token.strip_prefix("preauth_op_").unwrap();
    assert!(digits.len() == 56 && digits.bytes().all(|it| it.is_ascii_hexdigit()));
    let replayed = root.post_text(&path, &once, body.to_string()).await;
    assert_eq!(replayed.header("idempotency-replayed"), "true");
    let mut without = shown.clone();
    without.as_object_mut().unwrap().remove("token");
    assert_eq!(replayed.json(), without);

    let ana = RawCaller::new(url, Some(&token));
    let me = calling(&ana).await.json();
    let expected = json!({
        "id": shown["id"], "name": "Ana Souza", "role": "OPERATOR", "validUntil": null,
    });
    assert_eq!(me, expected);
    let path_of_ana = format!("{path}/{}", text(&shown["id"]));
    let record = root.get(&path_of_ana).await.json();
    assert_eq!(record["createdBy"], "root");
    assert_eq!(record["state"], "ACTIVE");
    assert!(record["lastUsedAt"].is_string(), "{record}");
    let list = root.get(&path).await;
    assert_eq!(list.json()["data"], json!([record]));
    assert!(!list.text.contains(&digits[..8]), "{}", list.text);

    let revoked = revoke(&root, &shown).await.json();
    assert_eq!(revoked["state"], "REVOKED");
    let refused = calling(&ana).await;
    assert!(is_refused(&refused), "{}", refused.text);
    assert_eq!(refused.header("www-authenticate"), "Bearer");
    let again = revoke(&root, &shown).await.json();
    assert_eq!(again["revokedAt"], revoked["revokedAt"]);
    assert_eq!(calling(&root).await.status, 200);
}

async fn a_token_is_refused_from_its_end_on(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let (root, url) = (sandbox.platform(), sandbox.text("platformUrl"));
    let path = format!("{PREFIX}/operators");
    let past = json!({"name": "Ana", "role": "VIEWER", "validUntil": "2020-01-01T00:00:00Z"});
    let refused = root.post_json(&path, &past).await;
    assert_eq!(refused.refusal(), (400, "VALIDATION_ERROR".to_owned()));
    assert_eq!(refused.fields(), ["validUntil"]);
    let (_, bia) = add(&root, url, "Bia", "ADMIN").await;
    let created_at = bia["createdAt"].as_str().unwrap();
    let created_at = preauth_core::value::Timestamp::parse(created_at).unwrap();
    let end = created_at.saturating_add(chrono::TimeDelta::hours(2));
    let body = json!({"name": "Ana", "role": "VIEWER", "validUntil": end});
    let added = root.post_json(&path, &body).await.json();
    let ana = RawCaller::new(url, Some(&text(&added["token"])));
    assert_eq!(
        calling(&ana).await.json()["validUntil"],
        added["validUntil"]
    );
    travel::advance(&sandbox, 2 * 60 * 60).await;
    assert!(is_refused(&calling(&ana).await));
    let one = format!("{path}/{}", text(&added["id"]));
    assert_eq!(root.get(&one).await.json()["state"], "EXPIRED");
}

async fn a_name_is_given_once(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let (root, url) = (sandbox.platform(), sandbox.text("platformUrl"));
    let (admin, ana) = add(&root, url, "Ana", "ADMIN").await;
    // Also by its own token: `root` remains.
    assert_eq!(revoke(&admin, &ana).await.status, 200);
    assert!(is_refused(&revoke(&admin, &ana).await));
    add(&root, url, "Jos\u{e9} Lima", "VIEWER").await;
    let path = format!("{PREFIX}/operators");
    for taken in [
        "Ana",
        "ANA",
        "root",
        "ROOT",
        "Jose\u{301} Lima",
        "Jos\u{e9}\u{a0}Lima",
        "Jos\u{e9}  Lima",
    ] {
        let body = json!({"name": taken, "role": "VIEWER"});
        let refused = root.post_json(&path, &body).await;
        assert_eq!(refused.refusal(), (409, "RESOURCE_CONFLICT".to_owned()));
    }
    for hidden in ["An\u{200b}a", "\u{202e}anA", " "] {
        let body = json!({"name": hidden, "role": "VIEWER"});
        let refused = root.post_json(&path, &body).await;
        assert_eq!(refused.refusal(), (400, "VALIDATION_ERROR".to_owned()));
    }
}

async fn of_two_names_that_look_the_same_one_is_given(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let root = sandbox.platform();
    let path = format!("{PREFIX}/operators");
    for round in 0..4 {
        let add = async |name: String| {
            let body = json!({"name": name, "role": "VIEWER"});
            root.post_json(&path, &body).await.status
        };
        let (composed, decomposed) = (format!("Z\u{e9} {round}"), format!("Ze\u{301} {round}"));
        let (one, other) = tokio::join!(add(composed), add(decomposed));
        assert_eq!((one.min(other), one.max(other)), (201, 409));
    }
}

async fn a_token_revoked_while_the_body_arrives_does_nothing(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let (root, url) = (sandbox.platform(), sandbox.text("platformUrl"));
    let (_, ana) = add(&root, url, "Ana", "ADMIN").await;
    let body = json!({"name": "Beto", "role": "ADMIN"}).to_string();
    let mut stream = connect(url).await;
    let host = url.trim_start_matches("http://");
    let (token, length) = (text(&ana["token"]), body.len());
    let head = format!(
        "POST {PREFIX}/operators HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nExpect: 100-continue\r\n\r\n",
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut interim = [0; 25];
    stream.read_exact(&mut interim).await.unwrap();
    assert_eq!(&interim, b"HTTP/1.1 100 Continue\r\n\r\n");
    assert_eq!(revoke(&root, &ana).await.status, 200);
    tokio::time::sleep(SLOW).await;
    stream.write_all(body.as_bytes()).await.unwrap();
    stream.shutdown().await.unwrap();
    let mut received = Vec::new();
    stream.read_to_end(&mut received).await.unwrap();
    assert!(is_refused(&first_answer(&received).unwrap()));
    let listed = root.get(&format!("{PREFIX}/operators")).await.json();
    assert_eq!(listed["pagination"]["total"], 1);
}

async fn the_log_names_the_operator_and_has_no_token(backend: Backend) {
    let home = Home::new(backend).await;
    let server = Server::start_with(home, ROOT, &[LOG_EVERYTHING]).await;
    let root = RawCaller::new(&server.platform_url, Some(ROOT));
    let (ana, added) = add(&root, &server.platform_url, "Ana Souza", "VIEWER").await;
    assert_eq!(calling(&ana).await.status, 200);
    let forbidden = revoke(&ana, &added).await;
    assert_eq!(forbidden.status, 403);
    let log = server.stop();
    let lines: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .filter(|line: &Value| line["target"] == "request")
        .collect();
    let by = |name: &str, status: u16| {
        let mut lines = lines.iter();
        lines.any(|it| it["operator"] == name && it["status"] == status)
    };
    assert!(
        by("root", 201) && by("Ana Souza", 200) && by("Ana Souza", 403),
        "{log}"
    );
    assert!(!log.contains(&text(&added["token"])[11..]));
}

async fn a_history_names_the_operator_and_nothing_else_does(backend: Backend) {
    let scene = Scene::new(backend).await;
    let url = scene.sandbox.text("platformUrl");
    let id = scene.offer("NF-1").await;
    let (ana, added) = add(&scene.platform, url, "Ana Souza", "OPERATOR").await;
    let path = format!("{PREFIX}/operations/{id}");
    let requested = ana.post(&format!("{path}/request")).await;
    assert_eq!(requested.status, 200, "{}", requested.text);
    scene.play(id, &["approve"]).await;
    let shown = scene.get(&format!("/operations/{id}")).await;
    let history = shown["history"].as_array().unwrap();
    assert_eq!(history.len(), 3);
    assert!(history[0].get("operator").is_none(), "the ERP's offer");
    let expected = json!({
        "id": added["id"],
        "name": "Ana Souza",
        "requestId": requested.header("x-request-id"),
        "address": "127.0.0.1",
    });
    assert_eq!(history[1]["operator"], expected);
    assert_eq!(history[1]["actor"], json!({"kind": "SUPPLIER"}));
    assert_eq!(history[2]["operator"]["name"], "root");
    assert_eq!(history[2]["operator"]["id"], Value::Null);

    let erp = scene.sandbox.caller("apiKey");
    let resource = erp.get(&format!("{PRE_AUTHORIZATIONS}/{id}")).await;
    let deliveries = format!("{PREFIX}/companies/{}/deliveries", scene.company);
    let bodies: Vec<_> = scene.platform.get(&deliveries).await.json()["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|delivery| text(&delivery["body"]))
        .collect();
    assert!(!bodies.is_empty());
    for sent in bodies.iter().chain([&resource.text]) {
        assert!(!sent.contains("Ana") && !sent.contains("root"), "{sent}");
    }
}
