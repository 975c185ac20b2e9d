//! Requests whose body takes long to arrive: what changes meanwhile counts.

use std::time::Duration;

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use reqwest::Method;
use serde_json::json;
use test_support::{
    Answer, Backend, Form, RawCaller, Sandbox, Server, connect, first_answer, offer_body,
    on_each_database,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use crate::operating::exposition::Exposition;
use crate::strangers::other_company;

on_each_database! {
    a_slow_body_under_a_valid_key_is_counted_once,
    a_key_revoked_while_the_body_arrives_creates_nothing,
    a_key_that_expires_while_the_body_arrives_creates_nothing,
    a_company_suspended_while_the_body_arrives_creates_nothing,
    a_user_deactivated_while_the_body_arrives_creates_nothing,
    slow_requests_of_one_head_office_keep_no_other_out,
    while_too_many_writes_are_under_way_each_head_office_has_its_share,
}

const DEADLINE: Duration = Duration::from_mins(1);
/// A body that takes this long is slow.
const SLOW: Duration = Duration::from_millis(1_200);

/// A create whose key was accepted and whose body has not been sent.
pub(crate) struct SlowCreate {
    stream: TcpStream,
    body: Vec<u8>,
    began_at: Instant,
}

impl SlowCreate {
    async fn begin(sandbox: &Sandbox, content_type: &str, body: Vec<u8>, more: &str) -> Self {
        let url = sandbox.text("baseUrl");
        Self::begin_at(url, sandbox.text("apiKey"), content_type, body, more).await
    }

    async fn begin_at(url: &str, key: &str, content_type: &str, body: Vec<u8>, more: &str) -> Self {
        let mut stream = connect(url).await;
        let head = format!(
            "POST {PRE_AUTHORIZATIONS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n{more}Expect: 100-continue\r\n\r\n",
            body.len(),
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut interim = [0; 25];
        let asked = timeout(DEADLINE, stream.read_exact(&mut interim)).await;
        asked.expect("the body is asked for").unwrap();
        assert_eq!(&interim, b"HTTP/1.1 100 Continue\r\n\r\n");
        Self {
            stream,
            body,
            began_at: Instant::now(),
        }
    }

    pub(crate) async fn json(sandbox: &Sandbox, number: &str) -> Self {
        let body = offer_body(sandbox, number).to_string().into_bytes();
        Self::begin(sandbox, "application/json", body, "").await
    }

    async fn form(sandbox: &Sandbox, number: &str) -> Self {
        let form = Form::of(&offer_body(sandbox, number));
        let form = form.file("a.xml", "application/xml", b"<nota/>");
        Self::begin(sandbox, &Form::content_type(), form.bytes(), "").await
    }

    /// Sends the body, late enough to be slow.
    pub(crate) async fn finish(mut self) -> Answer {
        sleep_until(self.began_at + SLOW).await;
        self.stream.write_all(&self.body).await.unwrap();
        self.stream.shutdown().await.unwrap();
        let mut received = Vec::new();
        let read = timeout(DEADLINE, self.stream.read_to_end(&mut received)).await;
        read.expect("the connection is closed").unwrap();
        first_answer(&received).unwrap()
    }
}

fn remaining(answer: &Answer) -> u32 {
    answer.header("x-ratelimit-remaining").parse().unwrap()
}

async fn a_slow_body_under_a_valid_key_is_counted_once(backend: Backend) {
    let sandbox = Sandbox::start_with(backend, &["--rate-limit", "50"]).await;
    let caller = sandbox.caller("apiKey");
    let before = caller.get(PRE_AUTHORIZATIONS).await;
    assert_eq!(remaining(&before), 49);
    let created = SlowCreate::json(&sandbox, "NF-1").await.finish().await;
    assert_eq!(created.status, 201, "{}", created.text);
    let with_file = SlowCreate::form(&sandbox, "NF-2").await.finish().await;
    assert_eq!(with_file.status, 201, "{}", with_file.text);
    assert_eq!((remaining(&created), remaining(&with_file)), (48, 47));
    assert_eq!(remaining(&caller.get(PRE_AUTHORIZATIONS).await), 46);
}

/// How many operations the company has.
async fn operations(sandbox: &Sandbox) -> u64 {
    let listed = sandbox.platform().get("/api/platform/v1/operations").await;
    assert_eq!(listed.status, 200, "{}", listed.text);
    listed.json()["pagination"]["total"].as_u64().unwrap()
}

/// Creates whose caller loses its access while their bodies arrive: JSON, a form with a file, the
/// replay of an earlier create, and content that would be refused.
async fn lose_access(sandbox: &Sandbox, change: (Method, String, &str), refusal: (u16, &str)) {
    let (caller, key) = (
        sandbox.caller("apiKey"),
        [("idempotency-key", "first-of-all")],
    );
    let first = offer_body(sandbox, "NF-1").to_string();
    let created = caller
        .post_text(PRE_AUTHORIZATIONS, &key, first.clone())
        .await;
    assert_eq!(created.status, 201, "{}", created.text);
    let (before, json) = (operations(sandbox).await, "application/json");
    let more = "Idempotency-Key: first-of-all\r\n";
    let slow = [
        SlowCreate::json(sandbox, "NF-2").await,
        SlowCreate::form(sandbox, "NF-3").await,
        SlowCreate::begin(sandbox, json, first.into_bytes(), more).await,
        SlowCreate::begin(sandbox, json, b"{}".to_vec(), "").await,
    ];
    let (method, path, body) = change;
    let headers = [("content-type", "application/json")];
    let platform = sandbox.platform();
    let body = Some(body.as_bytes().to_vec()).filter(|body| !body.is_empty());
    let changed = platform.send(method, &path, &headers, body).await;
    assert!(changed.status < 300, "{path}: {}", changed.text);
    for create in slow {
        let refused = create.finish().await;
        assert_eq!(refused.refusal(), (refusal.0, refusal.1.to_owned()));
        let has_window = refused.headers.contains_key("x-ratelimit-limit");
        assert_eq!(has_window, refusal.0 == 403);
    }
    assert_eq!(operations(sandbox).await, before);
}

// Contract: authentication/401
async fn a_key_revoked_while_the_body_arrives_creates_nothing(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let key = key_of(&sandbox).await;
    let path = format!("/api/platform/v1/api-keys/{}", key["id"].as_str().unwrap());
    let change = (Method::DELETE, path, "");
    lose_access(&sandbox, change, (401, "API_KEY_REVOKED")).await;
}

// Contract: authentication/401
async fn a_key_that_expires_while_the_body_arrives_creates_nothing(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let path = "/api/platform/v1/sandbox/clock".to_owned();
    let change = (Method::POST, path, r#"{"advanceSeconds": 31536000}"#);
    lose_access(&sandbox, change, (401, "API_KEY_EXPIRED")).await;
}

async fn a_company_suspended_while_the_body_arrives_creates_nothing(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let company = sandbox.company().await;
    let path = format!("/api/platform/v1/companies/{company}/suspend");
    let change = (Method::POST, path, r#"{"reason": "fraude"}"#);
    lose_access(&sandbox, change, (403, "RBAC_FORBIDDEN")).await;
}

// Contract: authentication/403
async fn a_user_deactivated_while_the_body_arrives_creates_nothing(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let key = key_of(&sandbox).await;
    let user = key["responsibleUserId"].as_str().unwrap();
    let path = format!("/api/platform/v1/users/{user}");
    let change = (Method::PATCH, path, r#"{"active": false}"#);
    lose_access(&sandbox, change, (403, "RBAC_FORBIDDEN")).await;
}

/// The record of the key under which these tests create.
async fn key_of(sandbox: &Sandbox) -> serde_json::Value {
    let leaked = json!({"text": sandbox.text("apiKey")});
    let search = "/api/platform/v1/api-key-search";
    let found = sandbox.platform().post_json(search, &leaked).await;
    found.json()["data"][0].clone()
}

async fn slow_requests_of_one_head_office_keep_no_other_out(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let body = offer_body(&sandbox, "NF-1").to_string().into_bytes();
    let keys = ["apiKey", "readOnlyApiKey", "branchApiKey"].map(|name| sandbox.caller(name));
    let other = other_company(&sandbox).await;
    let key = sandbox.text("apiKey").to_owned();
    // An eighth is 5.
    let limits = [("PREAUTH_CONNECTIONS_MAX", "40")];
    let server = Server::start_with(sandbox.kill(), "operator-token-of-the-tests", &limits).await;
    let mut slow = Vec::new();
    for _ in 0..5 {
        let url = &server.base_url;
        let begun = SlowCreate::begin_at(url, &key, "application/json", body.clone(), "").await;
        slow.push(begun);
    }
    for caller in keys.map(|caller| caller.at(&server.base_url)) {
        let refused = caller.get(PRE_AUTHORIZATIONS).await;
        assert_eq!(refused.refusal(), (429, "RATE_LIMITED".to_owned()));
        assert_eq!(refused.header("retry-after"), "1");
        assert!(remaining(&refused) > 0, "its window is not used up");
    }
    let answer = other.at(&server.base_url).get(PRE_AUTHORIZATIONS).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let created = slow.remove(0).finish().await;
    assert_eq!(created.status, 201, "{}", created.text);
    let caller = RawCaller::new(&server.base_url, Some(&key));
    assert_eq!(caller.get(PRE_AUTHORIZATIONS).await.status, 200);
    // A broken connection ends its request, too.
    drop(slow);
    let all = async {
        let listed = || async { caller.get(PRE_AUTHORIZATIONS).await.status };
        while futures_util::future::join_all((0..5).map(|_| listed())).await != [200; 5] {}
    };
    timeout(DEADLINE, all).await.expect("there is room");
    let metrics = RawCaller::new(&server.platform_url, None)
        .get("/metrics")
        .await
        .text;
    let metrics = Exposition::parse(&metrics).unwrap();
    let limit = [("limit", "head_office")];
    assert!(metrics.value("preauth_rate_limited_requests_total", &limit) >= 3.0);
}

async fn while_too_many_writes_are_under_way_each_head_office_has_its_share(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let body = offer_body(&sandbox, "NF-1");
    let key = sandbox.text("apiKey").to_owned();
    let other = other_company(&sandbox).await;
    // An eighth is 8.
    let limits = [("PREAUTH_CONNECTIONS_MAX", "64")];
    let server = Server::start_with(sandbox.kill(), "operator-token-of-the-tests", &limits).await;
    let caller = RawCaller::new(&server.base_url, Some(&key));
    let other = other.at(&server.base_url);
    // From now on it is known whose keys these are.
    for caller in [&caller, &other] {
        assert_eq!(caller.get(PRE_AUTHORIZATIONS).await.status, 200);
    }
    let mut slow = Vec::new();
    for _ in 0..8 {
        let (url, bytes) = (&server.base_url, body.to_string().into_bytes());
        slow.push(SlowCreate::begin_at(url, &key, "application/json", bytes, "").await);
    }
    sleep(Duration::from_millis(200)).await;
    let refused = caller.post_json(PRE_AUTHORIZATIONS, &body).await;
    assert_eq!(refused.refusal(), (503, "SERVICE_UNAVAILABLE".to_owned()));
    assert_eq!(refused.header("retry-after"), "1");
    // The rules are asked: it has no credit analysis.
    let decided = other.post_json(PRE_AUTHORIZATIONS, &body).await.refusal();
    let code = "CREDIT_ANALYSIS_INVOICE_AMOUNT_EXCEEDED".to_owned();
    assert_eq!(decided, (422, code));
    drop(slow);
    let created =
        async { while caller.post_json(PRE_AUTHORIZATIONS, &body).await.status != 201 {} };
    timeout(DEADLINE, created).await.expect("there is room");
}
