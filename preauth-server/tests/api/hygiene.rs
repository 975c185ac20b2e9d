//! HTTP itself: unknown paths, wrong methods, media types, sizes, and raw sockets.

use std::fmt::Write;
use std::time::Duration;

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use reqwest::Method;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::{Backend, Sandbox, offer_body};

on_each_database! {
    what_does_not_exist_is_answered_in_the_error_shape,
    head_answers_like_get_without_a_body,
    only_plain_json_in_utf8_is_understood,
    bodies_are_bounded,
    requests_that_two_servers_could_read_differently_are_refused,
    who_closes_its_side_after_the_request_still_gets_the_answer,
    an_answer_does_not_grow_with_the_request,
}

async fn what_does_not_exist_is_answered_in_the_error_shape(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let caller = sandbox.caller("apiKey");
    for path in [
        "/",
        "/api/integration/v2/pre-authorizations",
        "/api/integration/v1/pre-authorizations/",
        "//api/integration/v1/pre-authorizations",
        "/api/integration//v1/pre-authorizations",
        "/api/platform/v1/companies",
        "/livez",
    ] {
        let answer = caller.get(path).await;
        assert_eq!(answer.refusal(), (404, "NOT_FOUND".to_owned()), "{path}");
        assert!(
            answer
                .header("content-type")
                .starts_with("application/json"),
            "{path}"
        );
        assert_eq!(answer.header("x-request-id").len(), 36, "{path}");
        assert!(answer.json()["errors"][0]["message"].is_string());
    }
    for (method, path, allowed) in [
        (
            Method::DELETE,
            PRE_AUTHORIZATIONS,
            ["GET", "POST"].as_slice(),
        ),
        (Method::OPTIONS, PRE_AUTHORIZATIONS, &["GET", "POST"]),
        (
            Method::PATCH,
            "/api/integration/v1/pre-authorizations/1",
            &["GET"],
        ),
        (
            Method::TRACE,
            "/api/integration/v1/pre-authorizations/1",
            &["GET"],
        ),
        (
            Method::GET,
            "/api/integration/v1/pre-authorizations/1/cancel",
            &["POST"],
        ),
    ] {
        let answer = caller.send(method.clone(), path, &[], None).await;
        assert_eq!(
            answer.refusal(),
            (405, "METHOD_NOT_ALLOWED".to_owned()),
            "{method} {path}"
        );
        for name in allowed {
            assert!(answer.header("allow").contains(name), "{method} {path}");
        }
    }
}

async fn head_answers_like_get_without_a_body(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let caller = sandbox.caller("apiKey");
    let found = caller
        .send(Method::HEAD, PRE_AUTHORIZATIONS, &[], None)
        .await;
    assert_eq!((found.status, found.text.as_str()), (200, ""));
    assert_eq!(found.header("x-ratelimit-limit"), "1000000");
    let absent = caller
        .send(Method::HEAD, &format!("{PRE_AUTHORIZATIONS}/9"), &[], None)
        .await;
    assert_eq!((absent.status, absent.text.as_str()), (404, ""));
}

async fn only_plain_json_in_utf8_is_understood(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let caller = sandbox.caller("apiKey");
    let body = offer_body(&sandbox, "NF-1").to_string().into_bytes();
    let send = async |headers: &[(&str, &str)]| {
        caller
            .send(
                Method::POST,
                PRE_AUTHORIZATIONS,
                headers,
                Some(body.clone()),
            )
            .await
    };
    let refused: [&[(&str, &str)]; 6] = [
        &[],
        &[("content-type", "text/plain")],
        &[("content-type", "application/vnd.api+json")],
        &[("content-type", "application/json; charset=iso-8859-1")],
        &[("content-type", "application/x-www-form-urlencoded")],
        &[
            ("content-type", "application/json"),
            ("content-encoding", "gzip"),
        ],
    ];
    for headers in refused {
        assert_eq!(
            send(headers).await.refusal(),
            (400, "BAD_REQUEST".to_owned()),
            "{headers:?}"
        );
    }
    let html = [
        ("content-type", "Application/JSON; charset=UTF-8"),
        ("accept", "text/html"),
    ];
    let answer = send(&html).await;
    assert_eq!(answer.status, 201, "{}", answer.text);
    assert!(
        answer
            .header("content-type")
            .starts_with("application/json")
    );
}

async fn bodies_are_bounded(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let caller = sandbox.caller("apiKey");
    let mut body = offer_body(&sandbox, "NF-1");
    body["padding"] = json!("x".repeat(300 * 1024));
    let answer = caller.post_json(PRE_AUTHORIZATIONS, &body).await;
    assert_eq!(answer.refusal(), (413, "PAYLOAD_TOO_LARGE".to_owned()));
    body["padding"] = json!("x".repeat(200 * 1024));
    assert_eq!(
        caller.post_json(PRE_AUTHORIZATIONS, &body).await.status,
        201
    );
    let mut many = offer_body(&sandbox, "NF-2").to_string();
    many.truncate(many.len() - 1);
    for index in 0..15_000 {
        write!(many, ",\"k{index}\":1").unwrap();
    }
    many.push('}');
    assert_eq!(
        caller.post_text(PRE_AUTHORIZATIONS, &[], many).await.status,
        201
    );
}

/// Sends bytes on a connection of their own and reads until it is closed or silent.
async fn exchange(sandbox: &Sandbox, bytes: &[u8]) -> String {
    let address = sandbox
        .text("baseUrl")
        .trim_start_matches("http://")
        .to_owned();
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    let mut answer = Vec::new();
    let read = stream.read_to_end(&mut answer);
    let _ = tokio::time::timeout(Duration::from_secs(3), read).await;
    String::from_utf8_lossy(&answer).into_owned()
}

async fn requests_that_two_servers_could_read_differently_are_refused(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let key = sandbox.text("apiKey");
    let head = format!(
        "POST {PRE_AUTHORIZATIONS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\n"
    );
    for lengths in [
        "Content-Length: 2\r\nContent-Length: 3\r\n",
        "Content-Length: -1\r\n",
        "Content-Length: +2\r\n",
        "Content-Length: 0x2\r\n",
    ] {
        let answer = exchange(&sandbox, format!("{head}{lengths}\r\n{{}}").as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 400"), "{lengths}: {answer}");
    }
    let long = "x".repeat(20 * 1024);
    let answer = exchange(
        &sandbox,
        format!("GET /{long} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes(),
    )
    .await;
    assert!(
        answer.starts_with("HTTP/1.1 431") || answer.starts_with("HTTP/1.1 414"),
        "{answer}"
    );
    let nul = format!(
        "GET {PRE_AUTHORIZATIONS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\0\r\n\r\n"
    );
    let answer = exchange(&sandbox, nul.as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    assert_eq!(
        sandbox
            .caller("apiKey")
            .get(PRE_AUTHORIZATIONS)
            .await
            .status,
        200
    );
}

async fn who_closes_its_side_after_the_request_still_gets_the_answer(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let address = sandbox
        .text("baseUrl")
        .trim_start_matches("http://")
        .to_owned();
    let mut stream = TcpStream::connect(address).await.unwrap();
    let key = sandbox.text("apiKey");
    let request = format!(
        "GET {PRE_AUTHORIZATIONS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    stream.shutdown().await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

async fn an_answer_does_not_grow_with_the_request(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let caller = sandbox.caller("apiKey");
    let body = format!(
        r#"{{"{}":{{{}"":1}}}}"#,
        "k".repeat(100 * 1024),
        r#""":1,"#.repeat(20_000)
    );
    let answer = caller.post_text(PRE_AUTHORIZATIONS, &[], body).await;
    assert_eq!(answer.refusal(), (400, "VALIDATION_ERROR".to_owned()));
    assert!(answer.text.len() < 20 * 1024, "{}", answer.text.len());
    let answer = caller
        .get(&format!(
            "{PRE_AUTHORIZATIONS}?{}",
            "status=&".repeat(1_000)
        ))
        .await;
    assert_eq!(answer.status, 400);
    assert!(answer.text.len() < 20 * 1024, "{}", answer.text.len());
}
