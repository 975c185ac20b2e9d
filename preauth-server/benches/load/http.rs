//! Minimal requests to the platform API that prepare a scene.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::Value;

pub(crate) const TOKEN: &str = "operator-token-of-the-benchmark";

/// Sends one request and reads its answer, which must be a success.
pub(crate) fn call(address: &str, method: &str, path: &str, body: &Value) -> Value {
    let body = body.to_string();
    let mut stream = TcpStream::connect(address).unwrap();
    let request = format!(
        "{method} /api/platform/v1{path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\
         Authorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 20"), "{answer}");
    serde_json::from_str(body).unwrap()
}
