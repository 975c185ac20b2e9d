//! Signing in, signing out, and what ends a session.

use std::sync::Arc;
use std::time::Duration;

use preauth_server::http::platform::PREFIX;
use serde_json::{Value, json};
use test_support::{Backend, Home, RawCaller, Server, on_each_database};

use crate::browser::{Browser, hidden};

const TOKEN: &str = "operator-token-of-the-tests";

on_each_database! {
    a_session_opens_with_a_token_and_ends_with_signing_out,
    a_session_ends_with_its_operator,
    the_session_of_root_ends_with_its_token,
    a_session_is_not_written_anywhere_in_clear_text,
}

async fn server(backend: Backend) -> Server {
    Server::start_in(Home::new(backend).await, TOKEN).await
}

/// Adds an operator; returns the record with the token.
async fn add(server: &Server, name: &str, role: &str) -> Value {
    let root = RawCaller::new(&server.platform_url, Some(TOKEN));
    let body = json!({"name": name, "role": role});
    let added = root.post_json(&format!("{PREFIX}/operators"), &body).await;
    assert_eq!(added.status, 201, "{}", added.text);
    added.json()
}

fn is_sign_in(answer: &test_support::Answer) -> bool {
    answer.status == 303
        && answer
            .header("location")
            .starts_with("/console/sign-in?next=")
}

async fn a_session_opens_with_a_token_and_ends_with_signing_out(backend: Backend) {
    let server = server(backend).await;
    let mut browser = Browser::at(&server.platform_url);
    assert!(is_sign_in(
        &browser.get("/console/operations?status=TO_PAY").await
    ));
    let wrong = browser.sign_in("operator-token-of-the-testS").await;
    assert_eq!(wrong.status, 401, "{}", wrong.text);
    assert!(
        wrong.text.contains("This token is not valid"),
        "{}",
        wrong.text
    );
    let opened = browser.sign_in(TOKEN).await;
    assert_eq!(opened.header("location"), "/console");
    let cookie = opened.header("set-cookie");
    for part in [
        "; HttpOnly",
        "; SameSite=Strict",
        "; Path=/console",
        "; Max-Age=28800",
    ] {
        assert!(cookie.contains(part), "{cookie}");
    }
    assert!(!cookie.contains("Secure"), "{cookie}");
    let page = browser.page("/console").await;
    assert!(page.contains("<b>root</b>"), "{page}");
    let stolen = browser.clone();
    let token = hidden(&page, "form_token");
    let origin = browser.url.clone();
    let out = [("form_token", token.as_str())];
    let ended = browser.post_from(&origin, "/console/sign-out", &out).await;
    assert_eq!(ended.header("location"), "/console/sign-in");
    assert!(browser.cookies.is_empty());
    assert!(is_sign_in(&browser.get("/console").await));
    // The cookie itself opens nothing any more.
    assert!(is_sign_in(&stolen.clone().get("/console").await));
}

async fn a_session_ends_with_its_operator(backend: Backend) {
    let server = server(backend).await;
    let operator = add(&server, "Ana Souza", "VIEWER").await;
    let token = operator["token"].as_str().unwrap();
    let mut browser = Browser::signed_in(&server.platform_url, token).await;
    assert!(browser.page("/console").await.contains("<b>Ana Souza</b>"));
    let root = RawCaller::new(&server.platform_url, Some(TOKEN));
    let id = operator["id"].as_str().unwrap();
    let path = format!("{PREFIX}/operators/{id}/revoke");
    assert_eq!(root.post(&path).await.status, 200);
    let ends = async { while !is_sign_in(&browser.get("/console").await) {} };
    let ended = tokio::time::timeout(Duration::from_secs(10), ends).await;
    assert!(ended.is_ok(), "still open");
    assert_eq!(browser.sign_in(token).await.status, 401);
}

async fn the_session_of_root_ends_with_its_token(backend: Backend) {
    let home = Arc::new(Home::new(backend).await);
    let first = Server::start_in(Arc::clone(&home), TOKEN).await;
    let browser = Browser::signed_in(&first.platform_url, TOKEN).await;
    first.stop();
    // Another instance on the same database accepts the session.
    let second = Server::start_in(Arc::clone(&home), TOKEN).await;
    let mut there = browser.elsewhere(&second.platform_url);
    assert!(there.page("/console").await.contains("<b>root</b>"));
    second.stop();
    let third = Server::start_in(home, "another-operator-token").await;
    let mut there = browser.elsewhere(&third.platform_url);
    assert!(is_sign_in(&there.get("/console").await));
}

async fn a_session_is_not_written_anywhere_in_clear_text(backend: Backend) {
    let server = server(backend).await;
    let browser = Browser::signed_in(&server.platform_url, TOKEN).await;
    let secret = browser.cookies["preauth_console"].clone();
    let log = server.log();
    assert!(log.contains("signed in"), "{log}");
    assert!(!log.contains(&secret) && !log.contains(TOKEN));
}

#[tokio::test]
async fn instances_on_one_database_share_their_sessions() {
    let home = Arc::new(Home::new(Backend::Postgres).await);
    let one = Server::start_in(Arc::clone(&home), TOKEN).await;
    let other = Server::start_in(home, TOKEN).await;
    let browser = Browser::signed_in(&one.platform_url, TOKEN).await;
    let mut there = browser.elsewhere(&other.platform_url);
    assert!(there.page("/console").await.contains("<b>root</b>"));
}

#[tokio::test]
async fn wrong_tokens_are_bounded_and_the_right_one_is_not() {
    let server = server(Backend::Sqlite).await;
    let mut browser = Browser::at(&server.platform_url);
    for _ in 0..600 {
        assert_eq!(browser.sign_in("preauth_op_wrong").await.status, 401);
    }
    let limited = browser.sign_in("preauth_op_wrong").await;
    assert_eq!(limited.status, 429, "{}", limited.text);
    assert!(
        limited.text.contains("Too many wrong tokens"),
        "{}",
        limited.text
    );
    assert_eq!(browser.sign_in(TOKEN).await.status, 303);
}

#[tokio::test]
async fn a_cookie_is_for_tls_alone_where_a_trusted_proxy_has_it() {
    let home = Home::new(Backend::Sqlite).await;
    let trusted = ("PREAUTH_TRUSTED_PROXIES", "127.0.0.0/8");
    let server = Server::start_with(home, TOKEN, &[trusted]).await;
    let mut browser = Browser::at(&server.platform_url);
    let own = browser.url.clone();
    let fields = [("token", TOKEN), ("next", "/console")];
    for (proto, is_secure) in [("https", true), ("http", false)] {
        let headers = [("origin", own.as_str()), ("x-forwarded-proto", proto)];
        let opened = browser
            .post_with(&headers, "/console/sign-in", &fields)
            .await;
        assert_eq!(opened.status, 303);
        assert_eq!(opened.header("set-cookie").contains("; Secure"), is_secure);
    }
}
