//! A listener: binds, accepts connections within limits, stops gracefully.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use salvo::Service;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::http::client_address::{ClientAddress, ClientGroup};

use super::connection::{self, ConnectionInfo};
use super::registry::{ConnectionLimits, Evicted, Full, Place, Registry};
use super::transport::Transport;

/// Pause after a connection could not be accepted: usually the process has no file descriptors
/// left, and the next attempt would fail as well.
const REST_AFTER_FAILURE: Duration = Duration::from_millis(100);
/// Maximum number of connections that wait to be accepted, if the system allows as many
/// (`net.core.somaxconn`). With the runtime's default of 128, some connections of a larger burst would
/// take a second longer.
const BACKLOG: u32 = 1_024;
const LOGGED_AGAIN_AFTER: Duration = Duration::from_mins(1);

/// A bound listener that is not serving yet.
pub struct Bound {
    listener: TcpListener,
    address: SocketAddr,
}

impl Bound {
    /// Binds `address`; port 0 binds any free port.
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        let socket = match address {
            SocketAddr::V4(_) => TcpSocket::new_v4()?,
            SocketAddr::V6(_) => TcpSocket::new_v6()?,
        };
        // A restarted server need not wait for the connections of the previous one to time out.
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        let listener = socket.listen(BACKLOG)?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address })
    }

    /// The bound address.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until it is stopped: the future to spawn, and the handle that stops it.
    pub fn serve(
        self,
        service: Service,
        limits: ConnectionLimits,
    ) -> (impl Future<Output = ()> + Send + use<>, Stop) {
        let (stop, stopping) = watch::channel(None);
        (self.work(Arc::new(service), limits, stopping), Stop(stop))
    }

    async fn work(
        self,
        service: Arc<Service>,
        limits: ConnectionLimits,
        stopping: watch::Receiver<Option<Duration>>,
    ) {
        let mut acceptor = Acceptor::new(self.listener, limits);
        let mut connections = JoinSet::new();
        let mut asked = stopping.clone();
        let grace = loop {
            let Taken {
                stream,
                peer,
                place,
                evicted,
            } = tokio::select! {
                grace = asked_to_stop(&mut asked) => break grace,
                Some(_) = connections.join_next() => continue,
                taken = acceptor.take() => taken,
            };
            let local = stream.local_addr().unwrap_or(self.address);
            let stream = Transport::new(stream);
            let (service, mut asked) = (Arc::clone(&service), stopping.clone());
            let info = ConnectionInfo {
                // A listener on every address: use the address that the connection arrived at.
                local,
                peer,
                place,
                evicted,
                peer_end: Some(stream.peer_end()),
            };
            connections.spawn(async move {
                let stopping = async move {
                    asked_to_stop(&mut asked).await;
                };
                connection::serve(stream, info, &service, stopping).await;
            });
        };
        drop(acceptor);
        let ended = async { while connections.join_next().await.is_some() {} };
        // Dropping the set ends the connections that are not done in time.
        let _ = tokio::time::timeout(grace, ended).await;
    }
}

/// Stops a listener.
pub struct Stop(watch::Sender<Option<Duration>>);

impl Stop {
    /// Refuses new connections; requests in progress have `grace` to end.
    pub fn gracefully(&self, grace: Duration) {
        self.0.send_replace(Some(grace));
    }
}

/// Completes when the listener is stopped; without a handle it serves for ever.
async fn asked_to_stop(stopping: &mut watch::Receiver<Option<Duration>>) -> Duration {
    match stopping.wait_for(Option::is_some).await.map(|grace| *grace) {
        Ok(Some(grace)) => grace,
        Ok(None) | Err(_) => std::future::pending().await,
    }
}

/// Accepts connections.
struct Acceptor {
    listener: TcpListener,
    registry: Registry,
    /// Accepted, and waiting for a place.
    waiting: Option<(TcpStream, SocketAddr)>,
    /// When a failure to accept was logged last.
    failure_logged_at: Option<Instant>,
    /// When a refusal was logged last.
    refusal_logged_at: Option<Instant>,
}

/// A connection with its place.
struct Taken {
    stream: TcpStream,
    peer: SocketAddr,
    place: Place,
    evicted: Evicted,
}

impl Acceptor {
    fn new(listener: TcpListener, limits: ConnectionLimits) -> Self {
        Self {
            listener,
            registry: Registry::new(limits),
            waiting: None,
            failure_logged_at: None,
            refusal_logged_at: None,
        }
    }

    /// The next connection that gets a place. Cancel-safe: dropping the future loses no connection.
    async fn take(&mut self) -> Taken {
        loop {
            if self.waiting.is_none() {
                self.waiting = self.accept().await;
            }
            let Some((_, peer)) = &self.waiting else {
                continue;
            };
            match self.registry.admit(ClientAddress::from(*peer)) {
                Ok((place, evicted)) => {
                    if let Some((stream, peer)) = self.waiting.take() {
                        return Taken {
                            stream,
                            peer,
                            place,
                            evicted,
                        };
                    }
                }
                Err(Full::Client(client)) => {
                    self.waiting = None;
                    self.log_refusal(client);
                }
                Err(Full::Listener) => self.registry.room().await,
            }
        }
    }

    async fn accept(&mut self) -> Option<(TcpStream, SocketAddr)> {
        match self.listener.accept().await {
            Ok(accepted) => Some(accepted),
            Err(error) => {
                if is_due(&mut self.failure_logged_at) {
                    tracing::error!(target: "listener", %error, "no connection is accepted");
                }
                tokio::time::sleep(REST_AFTER_FAILURE).await;
                None
            }
        }
    }

    fn log_refusal(&mut self, client: ClientGroup) {
        if is_due(&mut self.refusal_logged_at) {
            tracing::warn!(
                target: "listener",
                %client,
                "a client has as many connections as it may, each with a request under way; further \
                 ones are closed (connections.max_per_client)"
            );
        }
    }
}

/// Whether a frequent event should be logged again.
fn is_due(logged_at: &mut Option<Instant>) -> bool {
    let is_due = logged_at.is_none_or(|at| at.elapsed() >= LOGGED_AGAIN_AFTER);
    if is_due {
        *logged_at = Some(Instant::now());
    }
    is_due
}

impl fmt::Debug for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bound")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stop(..)")
    }
}
