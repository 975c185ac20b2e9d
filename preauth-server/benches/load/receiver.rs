//! A webhook receiver that records when each event arrived.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crate::connection::now;

/// In the body of an event: the operation's reference is this text and the invoice number.
const REFERENCE: &str = "\"externalReference\":\"pedido ";
/// Between two polls of the arrivals.
const PAUSE: Duration = Duration::from_millis(5);
const PATIENCE: Duration = Duration::from_mins(2);

/// Answers everything with 204 until the benchmark ends.
pub(crate) struct Receiver {
    address: String,
    arrivals: Arc<Mutex<HashMap<u64, Instant>>>,
}

impl Receiver {
    /// A receiver that waits for `delay` before each answer.
    pub(crate) fn start(delay: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let arrivals: Arc<Mutex<HashMap<u64, Instant>>> = Arc::default();
        let book = Arc::clone(&arrivals);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (stream, book) = (stream.unwrap(), Arc::clone(&book));
                thread::spawn(move || serve(stream, delay, &book));
            }
        });
        Self { address, arrivals }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/webhooks", self.address)
    }

    /// The first arrival of each invoice's event.
    pub(crate) fn arrivals(&self) -> HashMap<u64, Instant> {
        self.arrivals.lock().unwrap().clone()
    }

    pub(crate) fn count(&self) -> usize {
        self.arrivals.lock().unwrap().len()
    }

    /// Waits until `count` events have arrived in total.
    pub(crate) fn wait_for(&self, count: usize) {
        let began = now();
        while self.count() < count {
            let arrived = self.count();
            assert!(began.elapsed() < PATIENCE, "{arrived} of {count} arrived");
            thread::sleep(PAUSE);
        }
    }
}

/// Answers one request after the other; a closed connection is no failure.
fn serve(stream: TcpStream, delay: Duration, book: &Mutex<HashMap<u64, Instant>>) {
    stream.set_nodelay(true).unwrap();
    let mut answers = stream.try_clone().unwrap();
    let mut requests = BufReader::new(stream);
    while let Some(body) = read(&mut requests) {
        let arrived = now();
        if let Some(invoice) = invoice(&body) {
            book.lock().unwrap().entry(invoice).or_insert(arrived);
        }
        thread::sleep(delay);
        if answers
            .write_all(b"HTTP/1.1 204 No Content\r\n\r\n")
            .is_err()
        {
            return;
        }
    }
}

fn read(requests: &mut BufReader<TcpStream>) -> Option<String> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if requests.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    requests.read_exact(&mut body).ok()?;
    String::from_utf8(body).ok()
}

fn invoice(body: &str) -> Option<u64> {
    let (_, reference) = body.split_once(REFERENCE)?;
    let (number, _) = reference.split_once('"')?;
    number.parse().ok()
}
