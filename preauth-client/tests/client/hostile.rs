//! Answers that nobody means well with: a call ends within its time, and keeps little of them.

use std::sync::Arc;
use std::time::Duration;

use preauth_client::{Client, ErrorKind, RetryPolicy};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use wiremock::{MockServer, ResponseTemplate};

use crate::skipped::Skipped;
use crate::{KEY, answering, client, id, operation, quick, refusal, requests, success};

/// Says `beginning` to every connection and then `more`, again and again until the connection closes.
async fn flood(beginning: &'static str, more: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        loop {
            let (mut connection, _) = listener.accept().await.unwrap();
            let mut request = [0; 4096];
            let _ = connection.read(&mut request).await;
            let _ = connection.write_all(beginning.as_bytes()).await;
            while connection.write_all(more.as_bytes()).await.is_ok() {}
        }
    });
    base_url
}

async fn kind_after(beginning: &'static str, more: String, time: Duration) -> ErrorKind {
    let client = quick(&flood(beginning, more).await)
        .max_answer_bytes(64 * 1024)
        .attempt_timeout(time)
        .retry(RetryPolicy::never().budget(time));
    let error = client.build().unwrap().get(id()).await.unwrap_err();
    assert_eq!(error.attempts(), 1);
    error.kind()
}

#[tokio::test]
async fn interim_answers_without_end_end_with_the_time_of_the_attempt() {
    let more = "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(100);
    let kind = kind_after("", more, Duration::from_millis(300)).await;
    assert_eq!(kind, ErrorKind::Timeout);
}

#[tokio::test]
async fn an_answer_without_end_is_read_no_further_than_its_limit() {
    let ok = "HTTP/1.1 200 OK\r\n";
    let chunk = format!("1000\r\n{}\r\n", " ".repeat(0x1000));
    for (beginning, more, kind) in [
        (ok, "x".repeat(4096), ErrorKind::Transport),
        (ok, "x-new: y\r\n".repeat(400), ErrorKind::Transport),
        ("", "\0".repeat(4096), ErrorKind::Transport),
        (
            "HTTP/1.1 200 OK\r\n\r\n",
            " ".repeat(4096),
            ErrorKind::AnswerTooLarge,
        ),
        (
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n",
            chunk,
            ErrorKind::AnswerTooLarge,
        ),
        (
            "HTTP/1.1 502 Bad Gateway\r\n\r\n",
            " ".repeat(4096),
            ErrorKind::UnexpectedAnswer,
        ),
    ] {
        let found = kind_after(beginning, more, Duration::from_secs(300)).await;
        assert_eq!(found, kind, "{beginning}");
    }
}

#[tokio::test]
async fn no_wait_that_a_service_asks_for_goes_beyond_the_time_of_the_call() {
    for asked_for in [
        "-1",
        "1e308",
        "NaN",
        "",
        "18446744073709551615",
        "18446744073709551616",
        "9999-12-31T23:59:59Z",
        "Fri, 31 Dec 9999 23:59:59 GMT",
    ] {
        let server = MockServer::start().await;
        let limited = refusal(429, "RATE_LIMITED")
            .insert_header("retry-after", asked_for)
            .insert_header("x-ratelimit-limit", "0")
            .insert_header("x-ratelimit-remaining", "0")
            .insert_header("x-ratelimit-reset", asked_for);
        answering(&server, limited, None).await;
        let skipped = Skipped::half();
        let client = Client::builder(server.uri(), KEY).timing(Arc::clone(&skipped));
        let error = client.build().unwrap().get(id()).await.unwrap_err();
        assert!(error.attempts() <= 5, "{asked_for}");
        assert!(
            skipped.waits_ms().iter().sum::<u128>() < 75_000,
            "{asked_for}"
        );
    }
}

#[tokio::test]
async fn half_a_success_is_unreadable_and_not_asked_for_again() {
    let server = MockServer::start().await;
    let body = operation("IN_PRE_AUTH").to_string();
    let half = body.split_at(body.len() / 2).0;
    let answer = ResponseTemplate::new(200).set_body_raw(half, "application/json");
    answering(&server, answer, Some(1)).await;
    answering(&server, success(200), None).await;
    let error = client(&server).get(id()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnreadableSuccess);
    assert_eq!(requests(&server).await.len(), 1);
}

#[tokio::test]
async fn an_answer_of_brackets_is_unreadable_and_no_more() {
    let server = MockServer::start().await;
    let deep = format!("{{\"new\":{}", "[".repeat(1 << 20));
    let answer = ResponseTemplate::new(200).set_body_raw(deep, "application/json");
    answering(&server, answer, None).await;
    let error = client(&server).get(id()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnreadableSuccess);
}
