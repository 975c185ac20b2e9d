//! A DNS server with the test's records, over UDP and TCP.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};

use hickory_resolver::proto::op::{Message, MessageType, ResponseCode};
use hickory_resolver::proto::rr::rdata::{A, AAAA, CNAME};
use hickory_resolver::proto::rr::{Name, RData, Record, RecordType};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::task::JoinSet;

/// The record of a name.
#[derive(Clone, Debug)]
pub(crate) enum Lookup {
    /// These addresses, of either family.
    Addresses(Vec<IpAddr>),
    /// An alias of another name, with that name's addresses.
    Alias(&'static str, Vec<IpAddr>),
    /// NXDOMAIN: the name does not exist.
    NoSuchName,
    /// SERVFAIL: the server cannot resolve the name.
    Failure,
    /// No answer.
    Nothing,
}

/// Serves until it is dropped.
pub(crate) struct Dns {
    pub(crate) address: SocketAddr,
    book: Arc<Mutex<Book>>,
    _tasks: JoinSet<()>,
}

#[derive(Default)]
struct Book {
    /// The records for the first query, the second, and so on; the last one repeats.
    names: HashMap<String, Vec<Lookup>>,
    /// How often the IPv4 addresses of a name were queried, without the repetitions over TCP.
    asked: HashMap<String, usize>,
    asked_over_tcp: usize,
}

/// Permitted caching time. The service caches nothing: an address may be an attack a moment later.
const TTL_SECONDS: u32 = 300;
/// Maximum size of an answer over UDP; a longer one is queried again over TCP.
const MAX_DATAGRAM_BYTES: usize = 1232;

/// A record with these addresses.
pub(crate) fn at(addresses: &[&str]) -> Lookup {
    Lookup::Addresses(parsed(addresses))
}

/// A record with an alias of another name, and its addresses.
pub(crate) fn alias(name: &'static str, addresses: &[&str]) -> Lookup {
    Lookup::Alias(name, parsed(addresses))
}

fn parsed(addresses: &[&str]) -> Vec<IpAddr> {
    addresses.iter().map(|text| text.parse().unwrap()).collect()
}

impl Dns {
    /// A server without records.
    pub(crate) async fn start() -> Self {
        let (udp, tcp) = sockets().await;
        let address = udp.local_addr().unwrap();
        let book = Arc::new(Mutex::<Book>::default());
        let mut tasks = JoinSet::new();
        tasks.spawn(serve_udp(udp, Arc::clone(&book)));
        tasks.spawn(serve_tcp(tcp, Arc::clone(&book)));
        Self {
            address,
            book,
            _tasks: tasks,
        }
    }

    /// Sets the records of `name`: the first answers the first query, and so on; the last one
    /// repeats. Resets the count of its queries.
    pub(crate) fn set<const N: usize>(&self, name: &str, answers: [Lookup; N]) {
        let mut book = self.book.lock().unwrap();
        book.names.insert(name.to_owned(), answers.into());
        book.asked.remove(name);
    }

    /// How often `name` was queried since it was last set.
    pub(crate) fn asked(&self, name: &str) -> usize {
        let book = self.book.lock().unwrap();
        book.asked.get(name).copied().unwrap_or_default()
    }

    /// The number of queries over TCP.
    pub(crate) fn asked_over_tcp(&self) -> usize {
        self.book.lock().unwrap().asked_over_tcp
    }
}

impl Book {
    fn lookup(&mut self, name: &str, kind: RecordType) -> Lookup {
        let asked = self.asked.entry(name.to_owned()).or_default();
        let nth = *asked;
        // One look-up queries both families: count one of them.
        if kind == RecordType::A {
            *asked += 1;
        }
        let Some(answers) = self.names.get(name) else {
            return Lookup::NoSuchName;
        };
        let now = if kind == RecordType::A {
            nth
        } else {
            nth.max(1) - 1
        };
        answers.get(now).or(answers.last()).unwrap().clone()
    }
}

async fn sockets() -> (UdpSocket, TcpListener) {
    loop {
        let udp = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        if let Ok(tcp) = TcpListener::bind(udp.local_addr().unwrap()).await {
            return (udp, tcp);
        }
    }
}

async fn serve_udp(socket: UdpSocket, book: Arc<Mutex<Book>>) {
    let mut buffer = [0; 4096];
    loop {
        let (length, from) = socket.recv_from(&mut buffer).await.unwrap();
        let Some(answer) = answer(&buffer[..length], &book) else {
            continue;
        };
        let mut bytes = answer.to_vec().unwrap();
        if bytes.len() > MAX_DATAGRAM_BYTES {
            bytes = answer.truncate().to_vec().unwrap();
        }
        socket.send_to(&bytes, from).await.unwrap();
    }
}

async fn serve_tcp(listener: TcpListener, book: Arc<Mutex<Book>>) {
    let mut connections = JoinSet::new();
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        connections.spawn(serve_connection(stream, Arc::clone(&book)));
    }
}

async fn serve_connection(mut stream: TcpStream, book: Arc<Mutex<Book>>) {
    while let Ok(length) = stream.read_u16().await {
        let mut question = vec![0; length.into()];
        stream.read_exact(&mut question).await.unwrap();
        book.lock().unwrap().asked_over_tcp += 1;
        if let Some(answer) = answer(&question, &book) {
            let bytes = answer.to_vec().unwrap();
            stream
                .write_u16(bytes.len().try_into().unwrap())
                .await
                .unwrap();
            stream.write_all(&bytes).await.unwrap();
        }
    }
}

fn answer(question: &[u8], book: &Mutex<Book>) -> Option<Message> {
    let question = Message::from_vec(question).unwrap();
    let query = question.queries[0].clone();
    let (name, kind) = (query.name().clone(), query.query_type());
    let text = name.to_ascii().trim_end_matches('.').to_lowercase();
    let mut answer = Message::new(
        question.metadata.id,
        MessageType::Response,
        question.metadata.op_code,
    );
    answer.metadata.recursion_desired = true;
    answer.metadata.recursion_available = true;
    answer.add_query(query);
    match book.lock().unwrap().lookup(&text, kind) {
        Lookup::Addresses(addresses) => {
            answer.add_answers(records(&name, kind, &addresses));
        }
        Lookup::Alias(other, addresses) => {
            let other = Name::from_ascii(other).unwrap();
            let alias = RData::CNAME(CNAME(other.clone()));
            answer.add_answer(Record::from_rdata(name, TTL_SECONDS, alias));
            answer.add_answers(records(&other, kind, &addresses));
        }
        Lookup::NoSuchName => answer.metadata.response_code = ResponseCode::NXDomain,
        Lookup::Failure => answer.metadata.response_code = ResponseCode::ServFail,
        Lookup::Nothing => return None,
    }
    Some(answer)
}

fn records(name: &Name, kind: RecordType, addresses: &[IpAddr]) -> Vec<Record> {
    let data = addresses
        .iter()
        .filter_map(|address| match (kind, address) {
            (RecordType::A, IpAddr::V4(address)) => Some(RData::A(A(*address))),
            (RecordType::AAAA, IpAddr::V6(address)) => Some(RData::AAAA(AAAA(*address))),
            _ => None,
        });
    data.map(|data| Record::from_rdata(name.clone(), TTL_SECONDS, data))
        .collect()
}
