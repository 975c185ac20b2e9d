//! A DNS server that says what a test wants, over UDP and TCP.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};

use hickory_resolver::proto::op::{Message, MessageType, ResponseCode};
use hickory_resolver::proto::rr::rdata::{A, AAAA, CNAME};
use hickory_resolver::proto::rr::{Name, RData, Record, RecordType};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::task::JoinSet;

/// What is known of a name.
#[derive(Clone, Debug)]
pub(crate) enum Says {
    /// These addresses, of either family.
    Addresses(Vec<IpAddr>),
    /// That it is another name's alias, and that one's addresses.
    Alias(&'static str, Vec<IpAddr>),
    /// That there is no such name.
    NoSuchName,
    /// That it cannot find out.
    Failure,
    /// Nothing.
    Nothing,
}

/// Runs until it is dropped.
pub(crate) struct Dns {
    pub(crate) address: SocketAddr,
    book: Arc<Mutex<Book>>,
    _tasks: JoinSet<()>,
}

#[derive(Default)]
struct Book {
    /// What is said at the first question, the second, and from the last on always.
    names: HashMap<String, Vec<Says>>,
    /// How often IPv4 addresses of a name were asked for, repetitions over TCP aside.
    asked: HashMap<String, usize>,
    asked_over_tcp: usize,
}

/// How long an answer may be kept. Nobody does: what was true a moment ago may be an attack now.
const TTL_SECONDS: u32 = 300;
/// Most bytes of an answer over UDP; what is longer must be asked for over TCP.
const MAX_DATAGRAM_BYTES: usize = 1232;

/// These addresses.
pub(crate) fn at(addresses: &[&str]) -> Says {
    Says::Addresses(parsed(addresses))
}

/// An alias of another name, and its addresses.
pub(crate) fn alias(name: &'static str, addresses: &[&str]) -> Says {
    Says::Alias(name, parsed(addresses))
}

fn parsed(addresses: &[&str]) -> Vec<IpAddr> {
    addresses.iter().map(|text| text.parse().unwrap()).collect()
}

impl Dns {
    /// One that knows of no name.
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

    /// From now on says this of `name`: at the first question the first, and so on; the last for
    /// good. Questions are counted anew.
    pub(crate) fn say<const N: usize>(&self, name: &str, says: [Says; N]) {
        let mut book = self.book.lock().unwrap();
        book.names.insert(name.to_owned(), says.into());
        book.asked.remove(name);
    }

    /// How often `name` was looked up since it was last set.
    pub(crate) fn asked(&self, name: &str) -> usize {
        let book = self.book.lock().unwrap();
        book.asked.get(name).copied().unwrap_or_default()
    }

    /// How many questions came over TCP.
    pub(crate) fn asked_over_tcp(&self) -> usize {
        self.book.lock().unwrap().asked_over_tcp
    }
}

impl Book {
    fn says(&mut self, name: &str, kind: RecordType) -> Says {
        let asked = self.asked.entry(name.to_owned()).or_default();
        let nth = *asked;
        // Both families are asked for at once: one look-up.
        if kind == RecordType::A {
            *asked += 1;
        }
        let Some(says) = self.names.get(name) else {
            return Says::NoSuchName;
        };
        let now = if kind == RecordType::A {
            nth
        } else {
            nth.max(1) - 1
        };
        says.get(now).or(says.last()).unwrap().clone()
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
    match book.lock().unwrap().says(&text, kind) {
        Says::Addresses(addresses) => {
            answer.add_answers(records(&name, kind, &addresses));
        }
        Says::Alias(other, addresses) => {
            let other = Name::from_ascii(other).unwrap();
            let alias = RData::CNAME(CNAME(other.clone()));
            answer.add_answer(Record::from_rdata(name, TTL_SECONDS, alias));
            answer.add_answers(records(&other, kind, &addresses));
        }
        Says::NoSuchName => answer.metadata.response_code = ResponseCode::NXDomain,
        Says::Failure => answer.metadata.response_code = ResponseCode::ServFail,
        Says::Nothing => return None,
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
