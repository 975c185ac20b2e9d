//! A way between two parties that a drill can spoil.

mod pipe;
mod wire;

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// How the way behaves, for connections that stand and for those to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Conduct {
    Pass,
    /// Everything takes so much longer, each way.
    Delay(Duration),
    /// Nothing gets through either way, and nobody is told.
    Stall,
    /// Answers do not get through; requests do.
    HoldAnswers,
    /// Every so many commits of PostgreSQL's protocol, the connection is cut around one.
    CutCommits {
        every: u32,
    },
}

/// Listens on an address of its own, which stays the same, and passes on to a target.
pub(crate) struct Proxy {
    address: SocketAddr,
    way: Arc<Way>,
    listening: JoinHandle<()>,
}

struct Way {
    is_to_database: bool,
    target: Mutex<SocketAddr>,
    conduct: watch::Sender<Conduct>,
    commits: AtomicU32,
    cuts: AtomicU32,
}

impl Proxy {
    /// A way to a server whose address will be known later.
    pub(crate) async fn to_service() -> Self {
        Self::new(SocketAddr::from(([127, 0, 0, 1], 0)), false).await
    }

    /// A way to the PostgreSQL database at `url`, and the URL that takes it.
    pub(crate) async fn before(url: &str) -> (String, Self) {
        let (user, place) = url.rsplit_once('@').unwrap();
        let (server, database) = place.split_once('/').unwrap();
        let proxy = Self::new(server.parse().unwrap(), true).await;
        // Without TLS, so that commits can be seen.
        let url = format!("{user}@{}/{database}?sslmode=disable", proxy.address);
        (url, proxy)
    }

    async fn new(target: SocketAddr, is_to_database: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let way = Arc::new(Way {
            is_to_database,
            target: Mutex::new(target),
            conduct: watch::Sender::new(Conduct::Pass),
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

    /// Leads new connections elsewhere.
    pub(crate) fn lead_to(&self, target: &str) {
        *self.way.target.lock().unwrap() = target.parse().unwrap();
    }

    pub(crate) fn behave(&self, conduct: Conduct) {
        self.way.conduct.send_replace(conduct);
    }

    /// How many connections were cut around a commit.
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
            // Where nobody listens, the caller is hung up on.
            if let Ok(to) = TcpStream::connect(target).await {
                from.set_nodelay(true).unwrap();
                to.set_nodelay(true).unwrap();
                pipe::between(from, to, &way).await;
            }
        });
    }
}
