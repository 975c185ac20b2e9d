//! HTTP itself: unknown paths, wrong methods, media types, sizes, and raw sockets.

use std::fmt::Write;

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use reqwest::Method;
use test_support::{Backend, Sandbox, connect, offer_body, on_each_database};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

on_each_database! {
    unknown_paths_are_answered_in_the_error_shape,
    head_answers_like_get_without_a_body,
    a_client_that_closes_its_side_after_the_request_still_gets_the_answer,
    an_answer_does_not_grow_with_the_request,
    fifteen_thousand_unknown_keys_are_ignored_like_one,
}

async fn unknown_paths_are_answered_in_the_error_shape(backend: Backend) {
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
    let one = format!("{PRE_AUTHORIZATIONS}/9");
    for (path, status) in [
        (PRE_AUTHORIZATIONS, 200),
        (one.as_str(), 404),
        ("/nothing", 404),
    ] {
        let head = caller.send(Method::HEAD, path, &[], None).await;
        assert_eq!((head.status, head.text.as_str()), (status, ""), "{path}");
        let get = caller.get(path).await;
        let length = get.text.len().to_string();
        assert_eq!(head.header("content-length"), length, "{path}");
        for name in ["content-type", "x-ratelimit-limit"] {
            assert_eq!(head.header(name), get.header(name), "{path} {name}");
        }
    }
}

async fn a_client_that_closes_its_side_after_the_request_still_gets_the_answer(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let mut stream = connect(sandbox.text("baseUrl")).await;
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

async fn fifteen_thousand_unknown_keys_are_ignored_like_one(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let caller = sandbox.caller("apiKey");
    let mut many = offer_body(&sandbox, "NF-1").to_string();
    many.truncate(many.len() - 1);
    for index in 0..15_000 {
        write!(many, ",\"k{index}\":1").unwrap();
    }
    many.push('}');
    let answer = caller.post_text(PRE_AUTHORIZATIONS, &[], many).await;
    assert_eq!(answer.status, 201, "{}", answer.text);
}
