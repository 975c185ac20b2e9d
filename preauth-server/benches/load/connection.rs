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

    /// Sends a part of a request, of which more follows.
    pub(crate) fn begin(&mut self, part: &str) {
        self.requests.write_all(part.as_bytes()).unwrap();
    }

    /// Sends a request, or what is left of one, whose answer must have the status. Returns the microseconds until then,
    /// and the answer's body.
    pub(crate) fn send(&mut self, request: &str, status: &str) -> (u64, Vec<u8>) {
        let answer = self.exchange(request);
        let is_expected = answer.status() == Some(status);
        let body = String::from_utf8_lossy(&answer.body);
        assert!(is_expected, "{}{body}", answer.head);
        (answer.took, answer.body)
    }

    /// Sends a request and returns its answer, whatever its status.
    pub(crate) fn exchange(&mut self, request: &str) -> Answer {
        let sent = now();
        self.requests.write_all(request.as_bytes()).unwrap();
        let (head, body) = self.receive();
        let took = micros(sent);
        Answer { took, head, body }
    }

    fn receive(&mut self) -> (String, Vec<u8>) {
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
        (head, body)
    }
}

/// The answer to a request.
pub(crate) struct Answer {
    /// The microseconds until it was there.
    pub(crate) took: u64,
    head: String,
    body: Vec<u8>,
}

impl Answer {
    pub(crate) fn status(&self) -> Option<&str> {
        self.head.split_whitespace().nth(1)
    }

    /// Whether it says when to repeat the request.
    pub(crate) fn has_retry_after(&self) -> bool {
        self.head.to_ascii_lowercase().contains("\r\nretry-after: ")
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
