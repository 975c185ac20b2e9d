//! Clients that send one create after the other, each on a connection of its own.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::scene::Scene;

/// Invoice numbers are unique over all rounds.
static INVOICES: AtomicU64 = AtomicU64::new(1);
/// The clients' threads need little stack.
const STACK_BYTES: usize = 128 * 1024;

/// How long each create took.
pub(crate) struct Done {
    micros: Vec<u64>,
    elapsed: Duration,
}

impl Done {
    pub(crate) fn count(&self) -> u64 {
        u64::try_from(self.micros.len()).unwrap()
    }

    /// Per second.
    pub(crate) fn rate(&self) -> u64 {
        let millis = u64::try_from(self.elapsed.as_millis()).unwrap();
        let scaled = self.count().saturating_mul(1000);
        scaled.checked_div(millis).unwrap_or_default()
    }

    pub(crate) fn percentile(&self, percent: usize) -> u64 {
        let place = self.micros.len().saturating_mul(percent) / 100;
        self.micros.get(place).copied().unwrap_or_default()
    }
}

/// Lets `clients` clients send creates until `time` is over.
pub(crate) fn run(scene: &Scene, clients: usize, time: Duration) -> Done {
    let begun = now();
    let mut micros: Vec<u64> = thread::scope(|scope| {
        let running: Vec<_> = (0..clients)
            .map(|number| {
                let client = thread::Builder::new().stack_size(STACK_BYTES);
                let address = scene.address(number);
                let client = client.spawn_scoped(scope, move || send(scene, address, begun, time));
                client.unwrap()
            })
            .collect();
        running
            .into_iter()
            .flat_map(|it| it.join().unwrap())
            .collect()
    });
    micros.sort_unstable();
    Done {
        micros,
        elapsed: begun.elapsed(),
    }
}

fn send(scene: &Scene, address: &str, begun: Instant, time: Duration) -> Vec<u64> {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_nodelay(true).unwrap();
    let mut answers = BufReader::new(stream.try_clone().unwrap());
    let mut requests = stream;
    let mut micros = Vec::new();
    while begun.elapsed() < time {
        let request = scene.create(INVOICES.fetch_add(1, Ordering::Relaxed));
        let sent = now();
        requests.write_all(request.as_bytes()).unwrap();
        receive(&mut answers, "HTTP/1.1 201");
        micros.push(u64::try_from(sent.elapsed().as_micros()).unwrap());
    }
    micros
}

/// Reads one answer, which must begin with `expected`, and returns its body.
pub(crate) fn receive(answers: &mut BufReader<TcpStream>, expected: &str) -> Vec<u8> {
    let mut head = String::new();
    let mut length = 0;
    loop {
        let begin = head.len();
        answers.read_line(&mut head).unwrap();
        let line = head.get(begin..).unwrap().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    answers.read_exact(&mut body).unwrap();
    let is_expected = head.starts_with(expected);
    assert!(is_expected, "{head}{}", String::from_utf8_lossy(&body));
    body
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
pub(crate) fn now() -> Instant {
    Instant::now()
}
