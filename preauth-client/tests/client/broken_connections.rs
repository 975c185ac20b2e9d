use std::time::Duration;

use preauth_client::ErrorKind;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use wiremock::MockServer;

use crate::{answering, id, offer, operation, quick, success};

pub(crate) async fn listener() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("http://{}", listener.local_addr().unwrap());
    (listener, base_url)
}

/// Takes connections, reads the beginning of a request, and sends the next of `texts` before hanging
/// up; after the last one it sends nothing and waits.
pub(crate) async fn send_and_hang_up(listener: TcpListener, texts: Vec<String>) {
    for text in texts {
        let (mut connection, _) = listener.accept().await.unwrap();
        let mut request = [0; 4096];
        let _ = connection.read(&mut request).await.unwrap();
        connection.write_all(text.as_bytes()).await.unwrap();
    }
    let (_silent, _) = listener.accept().await.unwrap();
    std::future::pending::<()>().await;
}

fn complete_answer() -> String {
    let body = operation("IN_PRE_AUTH").to_string();
    let length = body.len();
    format!("HTTP/1.1 201 Created\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}")
}

#[tokio::test]
async fn a_connection_that_breaks_before_or_within_the_answer_is_tried_again() {
    let (listener, base_url) = listener().await;
    let half = complete_answer().split_at(120).0.to_owned();
    tokio::spawn(send_and_hang_up(
        listener,
        vec![String::new(), half, complete_answer()],
    ));
    let created = quick(&base_url)
        .build()
        .unwrap()
        .create(&offer())
        .await
        .unwrap();
    assert_eq!(created.attempts(), 3);
}

#[tokio::test]
async fn an_unreachable_service_is_reported_as_such() {
    let (listener, base_url) = listener().await;
    drop(listener);
    let error = quick(&base_url)
        .build()
        .unwrap()
        .get(id())
        .await
        .unwrap_err();
    assert_eq!((error.kind(), error.attempts()), (ErrorKind::Connect, 3));
    assert!(error.is_retryable());
    assert_eq!((error.status(), error.code()), (None, None));
    assert!(std::error::Error::source(&error).is_some());
    assert_eq!(
        error.to_string(),
        "the service could not be reached [get 1042] [3 attempts]"
    );
}

#[tokio::test]
async fn an_answer_that_does_not_come_ends_the_attempt() {
    let server = MockServer::start().await;
    let slow = success(200).set_delay(Duration::from_secs(30));
    answering(&server, slow, Some(1)).await;
    answering(&server, success(200), None).await;
    let client = quick(&server.uri()).attempt_timeout(Duration::from_millis(400));
    let read = client.build().unwrap().get(id()).await.unwrap();
    assert_eq!(read.attempts(), 2);
}

#[tokio::test]
async fn an_answer_that_stops_in_the_middle_ends_the_attempt() {
    let (listener, base_url) = listener().await;
    tokio::spawn(async move {
        let (mut connection, _) = listener.accept().await.unwrap();
        let mut request = [0; 4096];
        let _ = connection.read(&mut request).await.unwrap();
        let head = b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{";
        connection.write_all(head).await.unwrap();
        std::future::pending::<()>().await;
    });
    let client = quick(&base_url)
        .attempt_timeout(Duration::from_millis(100))
        .retry(preauth_client::RetryPolicy::never());
    let error = client.build().unwrap().get(id()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout);
}
