//! The endpoints of many companies on one listener; each has its own behaviour.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use webhook_verify::{EVENT_ID_HEADER, SIGNATURE_HEADER, Secret, Verifier};

use crate::receiver::Arrival;

const PATH: &str = "/members/";

/// The attempts of each event, by its id.
pub(crate) type Arrivals = BTreeMap<String, Vec<Arrival>>;

/// The reaction of a member to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// Answers with this status.
    Answers(u16),
    /// Answers 204 after this time.
    Thinks(Duration),
    /// Never answers.
    Hangs,
    /// Resets the connection.
    Resets,
}

/// Endpoints by number; dropping the value closes them.
pub(crate) struct Crowd {
    address: SocketAddr,
    book: Arc<Book>,
    listening: JoinHandle<()>,
}

struct Book {
    members: Vec<Member>,
    hanging: AtomicUsize,
    max_hanging: AtomicUsize,
    wrongs: Mutex<Vec<String>>,
}

struct Member {
    manner: Mutex<Manner>,
    verifier: OnceLock<Verifier>,
    arrivals: Mutex<Arrivals>,
}

struct Request {
    head: String,
    body: Vec<u8>,
}

impl Manner {
    /// An attempt that begins now.
    fn arrival(self, endpoint: &str) -> Arrival {
        let began = Instant::now();
        let takes = match self {
            Self::Thinks(takes) => takes,
            Self::Answers(_) | Self::Hangs | Self::Resets => Duration::ZERO,
        };
        Arrival {
            endpoint: endpoint.to_owned(),
            began,
            ended: began + takes,
        }
    }
}

impl Crowd {
    /// One member per manner.
    pub(crate) async fn of(manners: &[Manner]) -> Self {
        let member = |manner: &Manner| Member {
            manner: Mutex::new(*manner),
            verifier: OnceLock::new(),
            arrivals: Mutex::default(),
        };
        let book = Arc::new(Book {
            members: manners.iter().map(member).collect(),
            hanging: AtomicUsize::new(0),
            max_hanging: AtomicUsize::new(0),
            wrongs: Mutex::default(),
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let listening = tokio::spawn(listen(listener, Arc::clone(&book)));
        Self {
            address,
            book,
            listening,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.book.members.len()
    }

    pub(crate) fn url(&self, member: usize) -> String {
        format!("http://{}{PATH}{member}", self.address)
    }

    /// Sets the secret that must sign every request to a member.
    pub(crate) fn expect(&self, member: usize, secret: &str) {
        let verifier = Verifier::new(Secret::parse(secret).unwrap());
        let is_new = self.book.members[member].verifier.set(verifier).is_ok();
        assert!(is_new, "set once");
    }

    /// Changes the behaviour of all members; requests that already hang stay open.
    pub(crate) fn all(&self, manner: Manner) {
        for member in &self.book.members {
            *member.manner.lock().unwrap() = manner;
        }
    }

    pub(crate) fn manner(&self, member: usize) -> Manner {
        *self.book.members[member].manner.lock().unwrap()
    }

    /// What arrived at a member.
    pub(crate) fn arrivals(&self, member: usize) -> Arrivals {
        self.book.members[member].arrivals.lock().unwrap().clone()
    }

    /// The number of events that arrived, each counted once per member.
    pub(crate) fn events(&self) -> usize {
        let members = self.book.members.iter();
        members.map(|it| it.arrivals.lock().unwrap().len()).sum()
    }

    /// The number of requests that arrived.
    pub(crate) fn requests(&self) -> usize {
        let members = self.book.members.iter();
        let requests = members.map(|member| {
            let arrivals = member.arrivals.lock().unwrap();
            arrivals.values().map(Vec::len).sum::<usize>()
        });
        requests.sum()
    }

    /// The maximum number of requests that hung at the same time.
    pub(crate) fn max_hanging(&self) -> usize {
        self.book.max_hanging.load(Ordering::Relaxed)
    }

    /// Unexpected requests, described.
    pub(crate) fn wrongs(&self) -> Vec<String> {
        self.book.wrongs.lock().unwrap().clone()
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

async fn listen(listener: TcpListener, book: Arc<Book>) {
    loop {
        if let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream, Arc::clone(&book)));
        }
    }
}

async fn serve(mut stream: TcpStream, book: Arc<Book>) {
    while let Some(request) = read(&mut stream).await {
        let status = match book.enter(&request) {
            Manner::Answers(status) => status,
            Manner::Thinks(duration) => {
                tokio::time::sleep(duration).await;
                204
            }
            Manner::Hangs => {
                book.hangs_until_left(&mut stream).await;
                return;
            }
            Manner::Resets => {
                stream.set_zero_linger().unwrap();
                return;
            }
        };
        let answer = format!("HTTP/1.1 {status} Answer\r\ncontent-length: 0\r\n\r\n");
        if stream.write_all(answer.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// The next request on a connection, if any.
async fn read(stream: &mut TcpStream) -> Option<Request> {
    let mut bytes = Vec::new();
    loop {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
        let Some(end) = bytes.windows(4).position(|it| it == b"\r\n\r\n") else {
            continue;
        };
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
        let length: usize = header(&head, "content-length").parse().unwrap();
        if bytes.len() == end + 4 + length {
            let body = bytes.split_off(end + 4);
            return Some(Request { head, body });
        }
    }
}

/// The value of a header; empty when it is absent.
fn header<'h>(head: &'h str, name: &str) -> &'h str {
    let mut headers = head.lines().filter_map(|line| line.split_once(": "));
    headers
        .find(|(it, _)| it.eq_ignore_ascii_case(name))
        .map_or("", |(_, value)| value)
}

impl Book {
    /// Records a request; returns what its member does with it.
    fn enter(&self, request: &Request) -> Manner {
        let (_, path) = request.head.split_once(PATH).unwrap();
        let (number, _) = path.split_once(' ').unwrap();
        let member = &self.members[number.parse::<usize>().unwrap()];
        let manner = *member.manner.lock().unwrap();
        let signature = header(&request.head, SIGNATURE_HEADER);
        let verifier = member.verifier.get().expect("a member with a secret");
        match verifier.verify_now(Some(signature.as_bytes()), &request.body) {
            Ok(_) => {
                let event = header(&request.head, EVENT_ID_HEADER).to_owned();
                let mut arrivals = member.arrivals.lock().unwrap();
                arrivals
                    .entry(event)
                    .or_default()
                    .push(manner.arrival(number));
            }
            Err(error) => self.wrongs.lock().unwrap().push(error.to_string()),
        }
        manner
    }

    async fn hangs_until_left(&self, stream: &mut TcpStream) {
        let now = self.hanging.fetch_add(1, Ordering::Relaxed) + 1;
        self.max_hanging.fetch_max(now, Ordering::Relaxed);
        let _ = stream.read(&mut [0]).await;
        self.hanging.fetch_sub(1, Ordering::Relaxed);
    }
}
