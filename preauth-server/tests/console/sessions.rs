//! Signing in, signing out, and what ends a session.

use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use preauth_server::access::ConsoleSecret;
use preauth_server::clock::{Clock as _, SystemClock};
use preauth_server::http::platform::PREFIX;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection, SqliteConnection};
use test_support::{
    Answer, Backend, Home, LOG_EVERYTHING, RawCaller, Sandbox, Server, on_each_database, travel,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::browser::{Browser, browser, hidden};

const TOKEN: &str = "operator-token-of-the-tests";
/// Long enough for the server to look up a session.
const BEFORE_THE_BODY: Duration = Duration::from_millis(500);

on_each_database! {
    a_session_opens_with_a_token_and_ends_with_signing_out,
    a_session_ends_with_its_operator,
    a_form_that_began_before_its_operator_was_revoked_does_nothing,
    a_session_ends_when_its_operator_s_token_does,
    the_form_token_of_another_session_is_refused,
    the_session_of_root_ends_with_its_token,
    a_session_is_not_written_anywhere_in_clear_text,
    a_session_ends_after_eight_hours_and_signing_in_leads_back,
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

fn is_sign_in(answer: &Answer) -> bool {
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
    let page = browser.page("/console/sign-in").await;
    let hint = "is shown once. The token of the configuration signs in, too.";
    assert!(page.contains(hint), "{page}");
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
    // The very next request.
    assert!(is_sign_in(&browser.get("/console").await));
    assert_eq!(browser.sign_in(token).await.status, 401);
}

async fn a_form_that_began_before_its_operator_was_revoked_does_nothing(backend: Backend) {
    let server = server(backend).await;
    let operator = add(&server, "Ana Souza", "ADMIN").await;
    let token = operator["token"].as_str().unwrap();
    let mut browser = Browser::signed_in(&server.platform_url, token).await;
    let form = browser.page("/console/new-operator").await;
    let body = format!(
        "form_token={}&once={}&name=Eva&role=ADMIN",
        hidden(&form, "form_token"),
        hidden(&form, "once")
    );
    let host = server.platform_url.strip_prefix("http://").unwrap();
    let cookies = browser.cookies.iter();
    let cookies: Vec<_> = cookies
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let head = format!(
        "POST /console/new-operator HTTP/1.1\r\nhost: {host}\r\norigin: {}\r\ncookie: {}\r\n\
         content-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\
         connection: close\r\n\r\n",
        server.platform_url,
        cookies.join("; "),
        body.len()
    );
    let (first, rest) = body.split_at(8);
    let mut slow = TcpStream::connect(host).await.unwrap();
    slow.write_all(format!("{head}{first}").as_bytes())
        .await
        .unwrap();
    // Whatever comes first, the session was looked up by then.
    tokio::time::sleep(BEFORE_THE_BODY).await;
    let root = RawCaller::new(&server.platform_url, Some(TOKEN));
    let id = operator["id"].as_str().unwrap();
    let path = format!("{PREFIX}/operators/{id}/revoke");
    assert_eq!(root.post(&path).await.status, 200);
    slow.write_all(rest.as_bytes()).await.unwrap();
    let mut answer = String::new();
    slow.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 303 "), "{answer}");
    assert!(answer.contains("/console/sign-in?next="), "{answer}");
    let operators = root.get(&format!("{PREFIX}/operators")).await.text;
    assert!(!operators.contains("\"Eva\""), "{operators}");
}

async fn a_session_ends_when_its_operator_s_token_does(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let until = SystemClock.now().saturating_add(TimeDelta::hours(1));
    let body = json!({"name": "Ana", "role": "OPERATOR", "validUntil": until.to_string()});
    let path = format!("{PREFIX}/operators");
    let added = sandbox.platform().post_json(&path, &body).await;
    assert_eq!(added.status, 201, "{}", added.text);
    let token = added.json()["token"].as_str().unwrap().to_owned();
    let mut ana = Browser::signed_in(sandbox.text("platformUrl"), &token).await;
    let mut root = browser(&sandbox).await;
    travel::advance(&sandbox, 1_800).await;
    let page = ana.page("/console/operations").await;
    let form_token = hidden(&page, "form_token");
    travel::advance(&sandbox, 1_900).await;
    // The very next request.
    let led = ana.get("/console/operations?status=TO_PAY").await;
    assert_eq!(
        led.header("location"),
        "/console/sign-in?next=%2Fconsole%2Foperations%3Fstatus%3DTO%5FPAY"
    );
    // A form that was open does nothing any more.
    let origin = ana.url.clone();
    let fields = [("form_token", form_token.as_str())];
    let form = ana
        .post_from(&origin, "/console/new-operation", &fields)
        .await;
    assert!(is_sign_in(&form), "{}", form.text);
    assert_eq!(ana.sign_in(&token).await.status, 401);
    // Others stay signed in.
    root.page("/console").await;
}

async fn the_form_token_of_another_session_is_refused(backend: Backend) {
    let server = server(backend).await;
    let mut one = Browser::signed_in(&server.platform_url, TOKEN).await;
    // Even of the same operator.
    let mut other = Browser::signed_in(&server.platform_url, TOKEN).await;
    let path = "/console/new-operator";
    let form = one.page(path).await;
    let own = other.page(path).await;
    assert_ne!(hidden(&form, "form_token"), hidden(&own, "form_token"));
    let fields = [("name", "Bruno"), ("role", "ADMIN")];
    let refused = other.submit_again(&form, path, &fields).await;
    assert_eq!(refused.status, 403, "{}", refused.text);
    let says = "This form was not sent from a page of this session. Nothing was done";
    assert!(refused.text.contains(says), "{}", refused.text);
    let operators = RawCaller::new(&server.platform_url, Some(TOKEN));
    let operators = operators.get(&format!("{PREFIX}/operators")).await.json();
    assert_eq!(operators["pagination"]["total"], 0, "{operators}");
    let done = other.submit_again(&own, path, &fields).await;
    assert_eq!(done.status, 200, "{}", done.text);
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
    let home = Home::new(backend).await;
    let server = Server::start_with(home, TOKEN, &[LOG_EVERYTHING]).await;
    let browser = Browser::signed_in(&server.platform_url, TOKEN).await;
    let secret = browser.cookies["preauth_console"].clone();
    let log = server.log();
    assert!(log.contains("signed in"), "{log}");
    assert!(!log.contains(&secret) && !log.contains(TOKEN));
}

/// Lets so many minutes pass for the sessions of a server: its clock is the database's, which no test may move while
/// it serves.
async fn age_sessions(home: &Home, minutes: i64) {
    let ms = minutes * 60_000;
    let sql = format!(
        "UPDATE console_sessions SET created_at = created_at - {ms}, expires_at = expires_at - {ms}"
    );
    let sql = AssertSqlSafe(sql);
    if let [_, url] = home.database_flags().as_slice() {
        let mut beside = PgConnection::connect(url).await.unwrap();
        beside.execute(sql).await.unwrap();
    } else {
        let file = home.folder().join("data").join("preauth.db");
        let url = format!("sqlite://{}", file.display());
        let mut beside = SqliteConnection::connect(&url).await.unwrap();
        beside.execute(sql).await.unwrap();
    }
}

async fn a_session_ends_after_eight_hours_and_signing_in_leads_back(backend: Backend) {
    const FORM: &str = "/console/new-company";
    let home = Arc::new(Home::new(backend).await);
    let server = Server::start_in(Arc::clone(&home), TOKEN).await;
    let mut browser = Browser::signed_in(&server.platform_url, TOKEN).await;
    let form = browser.page(FORM).await;
    age_sessions(&home, 8 * 60 - 5).await;
    // Still the same one.
    let still = browser.page(FORM).await;
    assert_eq!(hidden(&still, "form_token"), hidden(&form, "form_token"));
    age_sessions(&home, 6).await;
    let origin = browser.url.clone();
    let sign_in = async |browser: &mut Browser, sent_to: &Answer| {
        assert!(is_sign_in(sent_to), "{}", sent_to.text);
        let page = browser.page(sent_to.header("location")).await;
        let next = hidden(&page, "next");
        let fields = [("token", TOKEN), ("next", next.as_str())];
        let opened = browser
            .post_from(&origin, "/console/sign-in", &fields)
            .await;
        assert_eq!(opened.status, 303, "{}", opened.text);
        (page, opened.header("location").to_owned())
    };
    // A page: back to where one was.
    let path = "/console/operations?status=TO_PAY";
    let ended = browser.get(path).await;
    let (page, back) = sign_in(&mut browser.clone(), &ended).await;
    assert!(page.contains("Sign in"), "{page}");
    assert!(!page.contains("nothing was done"), "{page}");
    assert_eq!(back, path);
    // A form: nothing is done, the page says so, and it opens again.
    let company = [
        ("cnpj", "45.723.001/0001-00"),
        ("name", "Construtora Azul S.A."),
        ("kind", "CONSTRUCTION"),
    ];
    for (language, says) in [("en", "nothing was done"), ("pt-BR", "nada foi feito")] {
        let mut late = browser.clone();
        late.language = language;
        let ended = late.submit_again(&form, FORM, &company).await;
        let (page, back) = sign_in(&mut late, &ended).await;
        assert!(page.contains(says), "{page}");
        assert_eq!(back, FORM);
        // With the session of before it is refused as well.
        let refused = late.submit_again(&form, FORM, &company).await;
        assert_eq!(refused.status, 403, "{}", refused.text);
        let again = late.page(FORM).await;
        assert_ne!(hidden(&again, "form_token"), hidden(&form, "form_token"));
    }
    let root = RawCaller::new(&server.platform_url, Some(TOKEN));
    let path = format!("{PREFIX}/companies?cnpj=45723001000100");
    assert_eq!(root.get(&path).await.json()["data"], json!([]));
    let signed_out = browser.submit_again(&form, "/console/sign-out", &[]).await;
    assert_eq!(signed_out.header("location"), "/console/sign-in");
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
        let answer = answer.await;
        assert_eq!(answer.status, status, "{origin}");
        if status == 303 {
            assert!(answer.header("set-cookie").contains("; Secure"));
        }
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
