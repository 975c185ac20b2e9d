//! Signing in, signing out, and what ends a session.

use std::sync::Arc;
use std::time::Duration;

use preauth_server::access::ConsoleSecret;
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
    let plain = browser.url.clone();
    let tls = plain.replace("http://", "https://");
    let fields = [("token", TOKEN), ("next", "/console")];
    for (proto, origin, is_secure) in [("https", &tls, true), ("http", &plain, false)] {
        let headers = [("origin", origin.as_str()), ("x-forwarded-proto", proto)];
        let opened = browser
            .post_with(&headers, "/console/sign-in", &fields)
            .await;
        assert_eq!(opened.status, 303);
        assert_eq!(opened.header("set-cookie").contains("; Secure"), is_secure);
    }
    // A page without TLS, which anybody in the network can write, sends no forms to one with it.
    let headers = [("origin", plain.as_str()), ("x-forwarded-proto", "https")];
    let foreign = browser.post_with(&headers, "/console/sign-in", &fields);
    assert_eq!(foreign.await.status, 403);
}

#[tokio::test]
async fn a_configured_name_is_one_of_a_proxy_with_tls() {
    let home = Home::new(Backend::Sqlite).await;
    let named = ("PREAUTH_CONSOLE_HOSTS", "console.example");
    let server = Server::start_with(home, TOKEN, &[named]).await;
    let mut browser = Browser::at(&server.platform_url);
    let fields = [("token", TOKEN), ("next", "/console")];
    for (origin, status) in [
        ("https://console.example", 303),
        ("http://console.example", 403),
    ] {
        let headers = [("host", "console.example"), ("origin", origin)];
        let answer = browser.post_with(&headers, "/console/sign-in", &fields);
        assert_eq!(answer.await.status, status, "{origin}");
    }
}

#[tokio::test]
async fn signing_in_leads_to_pages_of_the_console_only() {
    let server = server(Backend::Sqlite).await;
    let mut browser = Browser::at(&server.platform_url);
    let origin = browser.url.clone();
    for (next, leads_to) in [
        ("/console/mails", "/console/mails"),
        ("/console/../api/platform/v1/companies", "/console"),
        ("/console/%2e%2E/metrics", "/console"),
        ("//evil.example/console", "/console"),
    ] {
        let fields = [("token", TOKEN), ("next", next)];
        let opened = browser
            .post_from(&origin, "/console/sign-in", &fields)
            .await;
        assert_eq!(opened.header("location"), leads_to, "{next}");
    }
}

/// 600 a minute from one client.
#[tokio::test]
async fn unknown_sessions_are_looked_up_no_more_than_so_often() {
    let server = server(Backend::Sqlite).await;
    let open = Browser::signed_in(&server.platform_url, TOKEN).await;
    let mut guessing = open.clone();
    for _ in 0..601 {
        let guess = ConsoleSecret::generate().expose().to_owned();
        guessing.cookies.insert("preauth_console".to_owned(), guess);
        assert!(is_sign_in(&guessing.get("/console").await));
    }
    // The client is now at its limit, which wrong tokens share.
    guessing.cookies.clear();
    assert_eq!(guessing.sign_in("preauth_op_wrong").await.status, 429);
    // A session that is open stays so, and the right token still opens one.
    open.clone().page("/console").await;
    assert_eq!(guessing.sign_in(TOKEN).await.status, 303);
}

/// Anything but a whole secret is refused by its checksum, without a look-up and without being counted.
#[tokio::test]
async fn malformed_cookies_cost_nothing() {
    let server = server(Backend::Sqlite).await;
    let mut browser = Browser::at(&server.platform_url);
    for n in 0..620 {
        let wrong = format!("console_{n:048x}");
        browser.cookies.insert("preauth_console".to_owned(), wrong);
        assert!(is_sign_in(&browser.get("/console").await));
    }
    assert_eq!(browser.sign_in("preauth_op_wrong").await.status, 401);
}
