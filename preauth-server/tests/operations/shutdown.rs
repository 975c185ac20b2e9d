//! A server asked to stop reports at once that it is not ready, and answers probes to the end.

use std::io::{Read, Write};
use std::net::TcpStream;

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use test_support::{Backend, Sandbox, offer_body, on_each_database};

use crate::server::{ask, probe_until, scrape};

on_each_database! {
    a_stopping_server_is_not_ready_yet_alive_while_requests_are_under_way,
}

/// Sends a request without its last byte.
fn begin_request(sandbox: &Sandbox) -> (TcpStream, u8) {
    let body = offer_body(sandbox, "NF-1").to_string();
    let address = sandbox.text("baseUrl").trim_start_matches("http://");
    let head = format!(
        "POST {PRE_AUTHORIZATIONS} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        sandbox.text("apiKey"),
        body.len(),
    );
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(head.as_bytes()).unwrap();
    let (last, most) = body.as_bytes().split_last().unwrap();
    stream.write_all(most).unwrap();
    (stream, *last)
}

async fn a_stopping_server_is_not_ready_yet_alive_while_requests_are_under_way(backend: Backend) {
    let mut sandbox = Sandbox::start(backend).await;
    let (mut stream, last) = begin_request(&sandbox);
    let in_flight = [("api", "integration")];
    crate::server::scrape_until(&sandbox, |scraped| {
        scraped.value("preauth_http_requests_in_flight", &in_flight) >= 1.0
    })
    .await;
    sandbox.terminate();
    let refusal = probe_until(&sandbox, "/readyz", 503).await.json();
    assert_eq!(refusal["reason"], "the server is stopping");
    assert_eq!(ask(&sandbox, "/livez").await.status, 200);
    scrape(&sandbox).await;
    stream.write_all(&[last]).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 201 "), "{answer}");
    assert!(sandbox.wait(), "it ended well");
}
