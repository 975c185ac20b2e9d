//! A listener: bind, take connections within limits, stop gracefully.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use salvo::Service;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::http::client_address::{ClientAddress, ClientGroup};

use super::connection::{self, Ends};
use super::registry::{ConnectionLimits, Evicted, Full, Place, Registry};

/// After a connection could not be taken: mostly the process has no file descriptors left, and the
/// next try would fail as well.
const REST_AFTER_FAILURE: Duration = Duration::from_millis(100);
const LOGGED_AGAIN_AFTER: Duration = Duration::from_mins(1);

/// A bound listener that does not serve yet.
pub struct Bound {
    listener: TcpListener,
    address: SocketAddr,
}

impl Bound {
    /// Binds `address`; port 0 takes any free one.
    pub async fn bind(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address })
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until it is stopped: the work, to be spawned, and the handle that ends it.
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
        let mut door = Door::new(self.listener, limits);
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
                taken = door.take() => taken,
            };
            let (service, mut asked) = (Arc::clone(&service), stopping.clone());
            let ends = Ends {
                // A listener on every address took it at one of them.
                local: stream.local_addr().unwrap_or(self.address),
                peer,
                place,
                evicted,
            };
            connections.spawn(async move {
                let stopping = async move {
                    asked_to_stop(&mut asked).await;
                };
                connection::serve(stream, ends, &service, stopping).await;
            });
        };
        drop(door);
        let ended = async { while connections.join_next().await.is_some() {} };
        // Those who are not done in time are cut off with the set.
        let _ = tokio::time::timeout(grace, ended).await;
    }
}

/// Ends a listener.
pub struct Stop(watch::Sender<Option<Duration>>);

impl Stop {
    /// Takes no new connections; requests under way have `grace` to end.
    pub fn gracefully(&self, grace: Duration) {
        self.0.send_replace(Some(grace));
    }
}

/// Done when it is asked for; a listener whose handle is gone serves for ever.
async fn asked_to_stop(stopping: &mut watch::Receiver<Option<Duration>>) -> Duration {
    match stopping.wait_for(Option::is_some).await.map(|grace| *grace) {
        Ok(Some(grace)) => grace,
        Ok(None) | Err(_) => std::future::pending().await,
    }
}

/// Where connections come in.
struct Door {
    listener: TcpListener,
    registry: Registry,
    /// Accepted, and without a place yet.
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

impl Door {
    fn new(listener: TcpListener, limits: ConnectionLimits) -> Self {
        Self {
            listener,
            registry: Registry::new(limits),
            waiting: None,
            failure_logged_at: None,
            refusal_logged_at: None,
        }
    }

    /// The next connection that finds a place. Nothing is lost when this is dropped before it is done.
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

/// Whether it is time to log something again that may happen many times a second.
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
