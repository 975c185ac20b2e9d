//! A connection of a client, for one request after the other.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Instant;

pub(crate) struct Connection {
    requests: TcpStream,
    answers: BufReader<TcpStream>,
}

impl Connection {
    pub(crate) fn to(address: &str) -> Self {
        let requests = TcpStream::connect(address).unwrap();
        requests.set_nodelay(true).unwrap();
        let answers = BufReader::new(requests.try_clone().unwrap());
        Self { requests, answers }
    }

    /// Sends a request, whose answer must have the status. Returns the microseconds until then,
    /// and the answer's body.
    pub(crate) fn send(&mut self, request: &str, status: &str) -> (u64, Vec<u8>) {
        let sent = now();
        self.requests.write_all(request.as_bytes()).unwrap();
        let body = self.receive(status);
        (micros(sent), body)
    }

    fn receive(&mut self, status: &str) -> Vec<u8> {
        let mut head = String::new();
        let mut length = 0;
        loop {
            let begin = head.len();
            let read = self.answers.read_line(&mut head).unwrap();
            assert!(read > 0, "the connection was closed: {head}");
            let line = head.get(begin..).unwrap().to_ascii_lowercase();
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        self.answers.read_exact(&mut body).unwrap();
        let found = head.split_whitespace().nth(1);
        let is_expected = found == Some(status);
        assert!(is_expected, "{head}{}", String::from_utf8_lossy(&body));
        body
    }
}

/// Microseconds since then.
pub(crate) fn micros(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_micros()).unwrap()
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
pub(crate) fn now() -> Instant {
    Instant::now()
}
