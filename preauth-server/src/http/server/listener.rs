//! A listener: bind, take connections within limits, stop gracefully.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use salvo::Service;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::connection::{self, Ends};

/// Connections at once; further ones wait to be accepted.
const CONNECTION_LIMIT: usize = 2_000;
/// After a connection could not be taken: mostly the process has no file descriptors left, and the
/// next try would fail as well.
const REST_AFTER_FAILURE: Duration = Duration::from_millis(100);
const TOLD_AGAIN_AFTER: Duration = Duration::from_mins(1);

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
    pub fn serve(self, service: Service) -> (impl Future<Output = ()> + Send + use<>, Stop) {
        let (stop, stopping) = watch::channel(None);
        (self.work(Arc::new(service), stopping), Stop(stop))
    }

    async fn work(self, service: Arc<Service>, stopping: watch::Receiver<Option<Duration>>) {
        let mut door = Door::new(self.listener);
        let mut connections = JoinSet::new();
        let mut asked = stopping.clone();
        let grace = loop {
            let (stream, peer, room) = tokio::select! {
                grace = asked_to_stop(&mut asked) => break grace,
                Some(_) = connections.join_next() => continue,
                taken = door.take() => taken,
            };
            let (service, mut asked) = (Arc::clone(&service), stopping.clone());
            let ends = Ends {
                // A listener on every address took it at one of them.
                local: stream.local_addr().unwrap_or(self.address),
                peer,
            };
            connections.spawn(async move {
                let stopping = async move {
                    asked_to_stop(&mut asked).await;
                };
                connection::serve(stream, ends, &service, stopping).await;
                drop(room);
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
    room: Arc<Semaphore>,
    /// When a failure was told last.
    told_at: Option<Instant>,
}

impl Door {
    fn new(listener: TcpListener) -> Self {
        Self {
            listener,
            room: Arc::new(Semaphore::new(CONNECTION_LIMIT)),
            told_at: None,
        }
    }

    /// The next connection, and its place among those that may be open at once. Nothing is lost when
    /// this is dropped before it is done.
    async fn take(&mut self) -> (TcpStream, SocketAddr, OwnedSemaphorePermit) {
        loop {
            let Ok(room) = Arc::clone(&self.room).acquire_owned().await else {
                std::future::pending().await
            };
            match self.listener.accept().await {
                Ok((stream, peer)) => return (stream, peer, room),
                Err(error) => {
                    self.tell(&error);
                    tokio::time::sleep(REST_AFTER_FAILURE).await;
                }
            }
        }
    }

    /// Tells of a failure, and not ten times a second for as long as it lasts.
    fn tell(&mut self, error: &io::Error) {
        let is_known = self
            .told_at
            .is_some_and(|at| at.elapsed() < TOLD_AGAIN_AFTER);
        if !is_known {
            tracing::error!(target: "listener", %error, "no connection is accepted");
            self.told_at = Some(Instant::now());
        }
    }
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
