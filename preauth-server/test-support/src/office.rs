//! A sandbox whose mails go to a mail server, and the platform's view of them.

use std::path::PathBuf;
use std::time::Duration;

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use serde_json::{Value, json};

use crate::{Backend, Home, MailServer, Sandbox, offer_body};

/// Timeout for everything the test waits for.
const PATIENCE: Duration = Duration::from_mins(5);
/// From whom its mails are.
pub const SENDER: &str = "Plataforma Ação <avisos@plataforma.example.com>";
/// Its flags: no rate limit.
pub const FLAGS: &[&str] = &["--rate-limit", "1000000"];

/// A new sandbox that sends its mails through `server`.
pub async fn start(backend: Backend, server: &MailServer) -> Sandbox {
    start_in(Home::of_a_sandbox(backend).await, server).await
}

/// The same in the home of an earlier one.
pub async fn start_in(home: Home, server: &MailServer) -> Sandbox {
    let port = server.address.port().to_string();
    let variables = [
        ("PREAUTH_MAIL_FROM", SENDER),
        (
            "PREAUTH_MAIL_PORTAL_URL",
            "https://plataforma.example.com/entrar",
        ),
        ("PREAUTH_MAIL_SMTP_HOST", "127.0.0.1"),
        ("PREAUTH_MAIL_SMTP_PORT", &port),
        ("PREAUTH_MAIL_SMTP_TLS", "none"),
    ];
    Sandbox::start_as(home, FLAGS, &variables).await
}

/// Creates an offer whose mail goes to `address`; returns the operation's id.
pub async fn offer(sandbox: &Sandbox, number: &str, address: &str) -> i64 {
    let mut body = offer_body(sandbox, number);
    body["supplier"]["email"] = json!(address);
    offer_as(sandbox, &body).await
}

/// Creates the offer of `body`; returns the operation's id.
pub async fn offer_as(sandbox: &Sandbox, body: &Value) -> i64 {
    let caller = sandbox.caller("apiKey");
    let created = caller.post_json(PRE_AUTHORIZATIONS, body).await;
    assert_eq!(created.status, 201, "{}", created.text);
    created.json()["id"].as_i64().unwrap()
}

/// The company's mails that match `query`.
pub async fn list_mails(sandbox: &Sandbox, query: &str) -> Vec<Value> {
    let company = sandbox.company().await;
    let path = format!("/api/platform/v1/companies/{company}/notices?limit=100&{query}");
    let answer = sandbox.platform().get(&path).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()["data"].as_array().unwrap().clone()
}

/// The mail of an operation.
pub async fn mail_of(sandbox: &Sandbox, operation: i64) -> Value {
    let found = list_mails(sandbox, &format!("operationId={operation}")).await;
    assert_eq!(found.len(), 1, "{found:?}");
    found[0].clone()
}

/// The path of a mail written to a file, from the sandbox's output.
pub fn kept(sandbox: &Sandbox, mail: &Value) -> PathBuf {
    let name = format!("{}.eml", mail["id"].as_str().unwrap());
    let log = sandbox.log();
    let line = log.lines().find(|line| line.ends_with(&name)).unwrap();
    line.split_once(" sent: ").unwrap().1.into()
}

/// Waits until `count` mails have this status, and returns them.
pub async fn until(sandbox: &Sandbox, count: usize, status: &str) -> Vec<Value> {
    let query = format!("status={status}");
    let mut found = Vec::new();
    let wait = async {
        loop {
            found = list_mails(sandbox, &query).await;
            if found.len() >= count {
                break;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    let waited = tokio::time::timeout(PATIENCE, wait).await;
    assert!(waited.is_ok(), "never {count} {status}: {}", sandbox.log());
    assert_eq!(found.len(), count, "{found:?}");
    found
}

/// Waits until a condition holds.
pub async fn until_true(what: &str, holds: impl AsyncFn() -> bool) {
    let wait = async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let waited = tokio::time::timeout(PATIENCE, wait).await;
    assert!(waited.is_ok(), "never: {what}");
}
