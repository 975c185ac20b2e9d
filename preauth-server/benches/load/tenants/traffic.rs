//! The requests of the load, and those of the quiet company beside it.

use std::io::{BufReader, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::companies::Company;
use crate::clients::{now, receive};
use crate::receiver::Receiver;
use crate::server::Server;

/// Invoice numbers are unique over all rounds.
static INVOICES: AtomicU64 = AtomicU64::new(1);
/// The rate of the quiet company's requests.
const PER_SECOND: u32 = 40;
/// The query of the load's lists.
const LIST: &str = "?limit=100";

/// The kind of request that the load sends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Load {
    Creates,
    Lists,
}

/// What the quiet company measured, in microseconds.
#[derive(Default)]
pub(crate) struct Quiet {
    creates: Vec<u64>,
    gets: Vec<u64>,
    deliveries: Vec<u64>,
    sent: Vec<(u64, Instant)>,
    runs: u32,
    /// Requests of the load answered in the same time.
    pub(crate) beside: u64,
}

/// The next invoice number.
pub(crate) fn next_invoice() -> u64 {
    INVOICES.load(Ordering::Relaxed)
}

/// One client of the load; returns the number of its requests.
pub(crate) fn flood(
    server: &Server,
    company: &Company,
    load: Load,
    begun: Instant,
    time: Duration,
) -> u64 {
    let mut line = Line::to(server);
    let mut count = 0_u64;
    while begun.elapsed() < time {
        match load {
            Load::Creates => {
                let invoice = INVOICES.fetch_add(1, Ordering::Relaxed);
                line.ask(&company.create(invoice), "HTTP/1.1 201");
            }
            Load::Lists => {
                line.ask(&company.get(LIST), "HTTP/1.1 200");
            }
        }
        count = count.saturating_add(1);
    }
    count
}

/// The quiet company's requests, evenly paced: a create beside creates, a get beside lists.
pub(crate) fn pace(
    server: &Server,
    company: &Company,
    load: Load,
    begun: Instant,
    time: Duration,
) -> Quiet {
    let mut line = Line::to(server);
    let mut quiet = Quiet {
        runs: 1,
        ..Quiet::default()
    };
    let own = INVOICES.fetch_add(1, Ordering::Relaxed);
    let created = line.ask(&company.create(own), "HTTP/1.1 201").1;
    let created: Value = serde_json::from_slice(&created).unwrap();
    let id = created.get("id").and_then(Value::as_i64).unwrap();
    let step = Duration::from_secs(1).checked_div(PER_SECOND).unwrap();
    for turn in 1_u32.. {
        let due = step.saturating_mul(turn);
        if due >= time {
            break;
        }
        thread::sleep(due.saturating_sub(begun.elapsed()));
        match load {
            Load::Creates => {
                let invoice = INVOICES.fetch_add(1, Ordering::Relaxed);
                quiet.sent.push((invoice, now()));
                let took = line.ask(&company.create(invoice), "HTTP/1.1 201").0;
                quiet.creates.push(took);
            }
            Load::Lists => {
                let took = line.ask(&company.get(&format!("/{id}")), "HTTP/1.1 200").0;
                quiet.gets.push(took);
            }
        }
    }
    quiet
}

impl Quiet {
    /// Waits until the events of all creates since `first` have arrived, including those of the
    /// load.
    pub(crate) fn arrive(&mut self, receiver: &Receiver, first: u64) {
        let created = next_invoice().saturating_sub(first);
        receiver.wait_for(usize::try_from(created).unwrap());
        let arrivals = receiver.arrivals();
        for (invoice, sent) in self.sent.drain(..) {
            let arrived = arrivals.get(&invoice).unwrap();
            let took = arrived.duration_since(sent).as_micros();
            self.deliveries.push(u64::try_from(took).unwrap());
        }
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.creates.extend(other.creates);
        self.gets.extend(other.gets);
        self.deliveries.extend(other.deliveries);
        self.beside = self.beside.saturating_add(other.beside);
        self.runs = self.runs.saturating_add(other.runs);
    }

    /// Requests of the load per second, over runs of `time` each.
    pub(crate) fn rate(&self, time: Duration) -> u64 {
        let seconds = time.saturating_mul(self.runs).as_secs();
        self.beside.checked_div(seconds).unwrap_or_default()
    }

    /// Pairs the same requests of both runs, sorted.
    pub(crate) fn in_pairs(self, other: Self) -> [(&'static str, Vec<u64>, Vec<u64>); 3] {
        [
            ("creates", sorted(self.creates), sorted(other.creates)),
            (
                "deliveries",
                sorted(self.deliveries),
                sorted(other.deliveries),
            ),
            ("gets", sorted(self.gets), sorted(other.gets)),
        ]
    }
}

/// A connection for one request after the other.
struct Line {
    requests: TcpStream,
    answers: BufReader<TcpStream>,
}

impl Line {
    fn to(server: &Server) -> Self {
        let requests = TcpStream::connect(&server.address).unwrap();
        requests.set_nodelay(true).unwrap();
        let answers = BufReader::new(requests.try_clone().unwrap());
        Self { requests, answers }
    }

    /// The latency of the answer, and its body.
    fn ask(&mut self, request: &str, expected: &str) -> (u64, Vec<u8>) {
        let sent = now();
        self.requests.write_all(request.as_bytes()).unwrap();
        let body = receive(&mut self.answers, expected);
        (u64::try_from(sent.elapsed().as_micros()).unwrap(), body)
    }
}

fn sorted(mut micros: Vec<u64>) -> Vec<u64> {
    micros.sort_unstable();
    micros
}
