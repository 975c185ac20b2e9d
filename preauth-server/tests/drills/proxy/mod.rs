//! A proxy between two parties, with network faults.

mod pipe;
mod wire;

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// The fault, for existing and new connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FailureMode {
    Pass,
    /// Delays everything by this much, in each direction.
    Delay(Duration),
    /// Passes nothing in either direction, and closes nothing.
    Stall,
    /// Passes requests and holds answers back.
    HoldAnswers,
    /// Cuts the connection around every n-th commit of PostgreSQL's protocol.
    CutCommits {
        every: u32,
    },
}

/// Listens on a fixed address of its own, and forwards to a target.
pub(crate) struct Proxy {
    address: SocketAddr,
    way: Arc<Way>,
    listening: JoinHandle<()>,
}

struct Way {
    is_to_database: bool,
    target: Mutex<SocketAddr>,
    failure_mode: watch::Sender<FailureMode>,
    commits: AtomicU32,
    cuts: AtomicU32,
}

impl Proxy {
    /// A proxy to a server whose address is set later.
    pub(crate) async fn to_service() -> Self {
        Self::new(SocketAddr::from(([127, 0, 0, 1], 0)), false).await
    }

    /// A proxy to the PostgreSQL database at `url`, and the URL through it.
    pub(crate) async fn before(url: &str) -> (String, Self) {
        let (user, place) = url.rsplit_once('@').unwrap();
        let (server, database) = place.split_once('/').unwrap();
        let proxy = Self::new(server.parse().unwrap(), true).await;
        // Without TLS, so that the proxy can see commits.
        let url = format!("{user}@{}/{database}?sslmode=disable", proxy.address);
        (url, proxy)
    }

    async fn new(target: SocketAddr, is_to_database: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let way = Arc::new(Way {
            is_to_database,
            target: Mutex::new(target),
            failure_mode: watch::Sender::new(FailureMode::Pass),
            commits: AtomicU32::new(0),
            cuts: AtomicU32::new(0),
        });
        let listening = tokio::spawn(listen(listener, Arc::clone(&way)));
        Self {
            address,
            way,
            listening,
        }
    }

    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Forwards new connections to another target.
    pub(crate) fn lead_to(&self, target: &str) {
        *self.way.target.lock().unwrap() = target.parse().unwrap();
    }

    pub(crate) fn behave(&self, failure_mode: FailureMode) {
        self.way.failure_mode.send_replace(failure_mode);
    }

    /// The number of connections cut around a commit.
    pub(crate) fn cuts(&self) -> u32 {
        self.way.cuts.load(Ordering::Relaxed)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

async fn listen(listener: TcpListener, way: Arc<Way>) {
    loop {
        let Ok((from, _)) = listener.accept().await else {
            continue;
        };
        let way = Arc::clone(&way);
        tokio::spawn(async move {
            let target = *way.target.lock().unwrap();
            // Without a listener at the target, the connection is closed.
            if let Ok(to) = TcpStream::connect(target).await {
                from.set_nodelay(true).unwrap();
                to.set_nodelay(true).unwrap();
                pipe::between(from, to, &way).await;
            }
        });
    }
}
