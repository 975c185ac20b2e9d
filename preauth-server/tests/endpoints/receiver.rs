//! Receivers on real sockets, with or without TLS, that behave as a test wants.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

/// The reaction of a receiver to a request.
#[derive(Clone)]
pub(crate) enum Manner {
    /// Answers with these bytes.
    Answers(&'static str),
    /// Answers with the first text, and then sends the second one endlessly.
    GoesOn(&'static str, String),
    /// Sends this before any request, and closes the connection.
    Greets(&'static [u8]),
    /// Answers with these bytes, one each second.
    Drips(&'static str),
}

/// A minimal answer.
pub(crate) const NO_CONTENT: Manner = Manner::Answers("HTTP/1.1 204 No Content\r\n\r\n");

/// Listens until it is dropped.
pub(crate) struct Receiver {
    pub(crate) address: SocketAddr,
    received: Arc<Mutex<Received>>,
    _tasks: JoinSet<()>,
}

/// The connections and requests that have arrived so far.
#[derive(Default)]
pub(crate) struct Received {
    /// Accepted connections, whether or not anything was read.
    pub(crate) connections: usize,
    /// The server names requested in TLS.
    pub(crate) names: Vec<Option<String>>,
    /// The heads of requests.
    pub(crate) requests: Vec<String>,
}

impl Receiver {
    /// Listens at `address` (port 0: any), with TLS if it has a certificate.
    pub(crate) async fn start(address: &str, proof: Option<TlsAcceptor>, manner: Manner) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let received = Arc::new(Mutex::<Received>::default());
        let mut tasks = JoinSet::new();
        let book = Arc::clone(&received);
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                book.lock().unwrap().connections += 1;
                let (proof, book) = (proof.clone(), Arc::clone(&book));
                connections.spawn(serve(stream, proof, manner.clone(), book));
            }
        });
        Self {
            address,
            received,
            _tasks: tasks,
        }
    }

    /// A receiver at the same port of another address of this machine; nothing may connect to it.
    pub(crate) async fn trap_beside(&self) -> Self {
        let address = SocketAddr::new("127.0.0.99".parse().unwrap(), self.address.port());
        Self::start(&address.to_string(), None, NO_CONTENT).await
    }

    /// Its URL, with `name` as the host.
    pub(crate) fn url(&self, scheme: &str, name: &str) -> String {
        format!("{scheme}://{name}:{}/hook?tenant=1", self.address.port())
    }

    pub(crate) fn received(&self) -> MutexGuard<'_, Received> {
        self.received.lock().unwrap()
    }
}

async fn serve(
    stream: TcpStream,
    proof: Option<TlsAcceptor>,
    manner: Manner,
    received: Arc<Mutex<Received>>,
) {
    let Some(proof) = proof else {
        return converse(stream, &manner, &received).await;
    };
    // A client that does not trust the certificate sends no request.
    if let Ok(stream) = proof.accept(stream).await {
        let name = stream.get_ref().1.server_name().map(ToOwned::to_owned);
        received.lock().unwrap().names.push(name);
        converse(stream, &manner, &received).await;
    }
}

async fn converse<S>(mut stream: S, manner: &Manner, received: &Mutex<Received>)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    if let Manner::Greets(greeting) = manner {
        let _ = stream.write_all(greeting).await;
        let _ = stream.shutdown().await;
        // Reads to the end, so that the client gets no reset.
        let _ = tokio::io::copy(&mut stream, &mut tokio::io::sink()).await;
        return;
    }
    while let Some(head) = read_request(&mut stream).await {
        received.lock().unwrap().requests.push(head);
        // The client may close the connection at any time.
        let answered = match manner {
            Manner::Answers(answer) => stream.write_all(answer.as_bytes()).await,
            Manner::GoesOn(beginning, again) => {
                let mut written = stream.write_all(beginning.as_bytes()).await;
                while written.is_ok() {
                    written = stream.write_all(again.as_bytes()).await;
                }
                written
            }
            Manner::Greets(_) => return,
            Manner::Drips(answer) => drip(&mut stream, answer.as_bytes()).await,
        };
        if answered.is_err() || stream.flush().await.is_err() {
            return;
        }
    }
}

async fn drip<S: AsyncWrite + Unpin>(stream: &mut S, answer: &[u8]) -> std::io::Result<()> {
    for byte in answer {
        stream.write_all(&[*byte]).await?;
        stream.flush().await?;
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    Ok(())
}

/// The head of the next request, after its body has been read.
async fn read_request<S: AsyncRead + Unpin>(stream: &mut S) -> Option<String> {
    let mut bytes = Vec::new();
    loop {
        let mut buffer = [0; 4096];
        match stream.read(&mut buffer).await {
            Ok(count @ 1..) => bytes.extend_from_slice(&buffer[..count]),
            Ok(0) | Err(_) => return None,
        }
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let mut lines = head.lines().filter_map(|line| line.split_once(": "));
        let length = lines.find(|(name, _)| *name == "content-length");
        if length.is_some_and(|(_, length)| length.parse() == Ok(body.len())) {
            return Some(head.to_owned());
        }
    }
}
