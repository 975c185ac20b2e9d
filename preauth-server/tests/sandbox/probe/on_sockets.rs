//! Receivers on bare sockets, each with a fault that no framework lets them have.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use preauth_server::clock::{Clock, SystemClock};
use serde_json::Value;
use webhook_verify::{SIGNATURE_HEADER, Secret, Verifier};

use super::super::listen::SECRET;
use super::faulty::{faults_at, work};

/// How long the rest of a delivery is waited for.
const PATIENCE: Duration = Duration::from_secs(10);
/// Shorter than the pauses of a slow delivery, longer than those of any other.
const IMPATIENCE: Duration = Duration::from_millis(200);
/// Long enough that deliveries at the same moment meet.
const AT_WORK: Duration = Duration::from_millis(500);

/// What a receiver does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mistake {
    ReadsOnlyWhatComesAtOnce,
    TakesOneConnection,
    StopsAtAForgedDelivery,
}

struct Receiver {
    mistake: Mistake,
    effects: PathBuf,
    seen: Mutex<Vec<String>>,
    is_busy: AtomicBool,
}

/// A delivery that was read to its end.
struct Delivery {
    signature: Option<String>,
    body: Vec<u8>,
}

impl Receiver {
    /// Starts one, and returns its URL. It ends with the process, if not by itself.
    fn start(mistake: Mistake, effects: &Path) -> String {
        std::fs::write(effects, "").unwrap();
        let receiver = Arc::new(Self {
            mistake,
            effects: effects.to_owned(),
            seen: Mutex::default(),
            is_busy: AtomicBool::new(false),
        });
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || receiver.run(&listener));
        format!("http://{address}/webhooks")
    }

    fn run(self: Arc<Self>, listener: &TcpListener) {
        for stream in listener.incoming() {
            let stream = stream.unwrap();
            match self.mistake {
                Mistake::TakesOneConnection => {
                    if self.is_busy.swap(true, Ordering::SeqCst) {
                        drop(stream);
                        continue;
                    }
                    let receiver = Arc::clone(&self);
                    thread::spawn(move || receiver.receive(stream, PATIENCE));
                }
                Mistake::ReadsOnlyWhatComesAtOnce => {
                    let receiver = Arc::clone(&self);
                    thread::spawn(move || receiver.receive(stream, IMPATIENCE));
                }
                Mistake::StopsAtAForgedDelivery => {
                    if self.receive(stream, PATIENCE) != 204 {
                        return;
                    }
                }
            }
        }
    }

    /// Reads a delivery and answers it; returns the status.
    fn receive(&self, mut stream: TcpStream, patience: Duration) -> u16 {
        stream.set_read_timeout(Some(patience)).unwrap();
        let status = match delivery(&mut stream) {
            Some(delivery) if verifies(&delivery) => {
                self.take(&delivery.body);
                204
            }
            Some(_) | None => 400,
        };
        if self.mistake == Mistake::TakesOneConnection {
            thread::sleep(AT_WORK);
            // Before the answer, after which the next one comes.
            self.is_busy.store(false, Ordering::SeqCst);
        }
        let answer =
            format!("HTTP/1.1 {status} X\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        // Nobody may be there any more.
        let _ = stream.write_all(answer.as_bytes());
        status
    }

    fn take(&self, body: &[u8]) {
        let event: Value = serde_json::from_slice(body).unwrap();
        let id = event["id"].as_str().unwrap().to_owned();
        let mut seen = self.seen.lock().unwrap();
        if !seen.contains(&id) {
            work(&self.effects);
            seen.push(id);
        }
    }
}

/// `None` when nothing more came for a while, or never will.
fn delivery(stream: &mut TcpStream) -> Option<Delivery> {
    let (mut bytes, mut piece) = (Vec::new(), [0; 16 * 1024]);
    loop {
        if let Some(whole) = whole(&bytes) {
            return Some(whole);
        }
        match stream.read(&mut piece) {
            Ok(0) | Err(_) => return None,
            Ok(read) => bytes.extend_from_slice(&piece[..read]),
        }
    }
}

fn whole(bytes: &[u8]) -> Option<Delivery> {
    let end = bytes.windows(4).position(|it| it == b"\r\n\r\n")?;
    let (head, rest) = (
        std::str::from_utf8(&bytes[..end]).unwrap(),
        &bytes[end + 4..],
    );
    let field = |wanted: &str| {
        let fields = head.lines().filter_map(|line| line.split_once(": "));
        let mut found = fields.filter(|(name, _)| name.eq_ignore_ascii_case(wanted));
        found.next().map(|(_, value)| value.to_owned())
    };
    let length: usize = field("content-length").unwrap().parse().unwrap();
    Some(Delivery {
        signature: field(SIGNATURE_HEADER),
        body: rest.get(..length)?.to_vec(),
    })
}

fn verifies(delivery: &Delivery) -> bool {
    let verifier = Verifier::new(Secret::parse(SECRET).unwrap());
    let signature = delivery.signature.as_deref().map(str::as_bytes);
    let now = SystemClock.now().unix_seconds();
    verifier.verify(signature, &delivery.body, now).is_ok()
}

/// The faults found of a receiver with this mistake.
async fn faults(mistake: Mistake) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let effects = folder.path().join("effects");
    faults_at(&Receiver::start(mistake, &effects), &effects).await
}

#[tokio::test]
async fn a_receiver_that_reads_only_what_comes_at_once_is_found() {
    let found = faults(Mistake::ReadsOnlyWhatComesAtOnce).await;
    assert_eq!(found, ["refuses-slow"]);
}

#[tokio::test]
async fn a_receiver_that_takes_one_connection_at_a_time_is_found() {
    let found = faults(Mistake::TakesOneConnection).await;
    assert_eq!(found, ["refuses-parallel", "refuses-duplicate"]);
}

#[tokio::test]
async fn a_receiver_that_stops_at_a_forged_delivery_is_found() {
    let found = faults(Mistake::StopsAtAForgedDelivery).await;
    assert_eq!(found, ["fails-afterwards"]);
}
