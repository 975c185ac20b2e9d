//! The pools: what is asked of a connection before it is used, and when it is closed.

use std::sync::Arc;
use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgConnectOptions, PgConnection, PgPool, PgPoolOptions, Postgres};
use tokio::time::timeout;

use super::error::Fault;
use super::primary::{self, Primary};

/// Connections of one instance; twice as many gave no more on the machines measured.
pub(super) const CONNECTIONS: u32 = 16;
/// Requests of tenants that may wait for one.
pub(super) const WAITING_LIMIT: usize = 2048;
/// One to work with, and one beside a broken one that is still being closed.
const FEW: u32 = 2;
/// How long a request waits for a free connection.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);
/// A connection that was idle for longer is asked whether its server is still there and takes writes.
/// Asking every time would double the round trips of a read.
const PING_AFTER: Duration = Duration::from_secs(5);
/// How long it may think about that.
const PING_TIMEOUT: Duration = Duration::from_secs(1);
/// Connections are renewed, so that what a session has gathered does not stay for ever.
const MAX_LIFETIME: Duration = Duration::from_mins(30);
const IDLE_TIMEOUT: Duration = Duration::from_mins(5);
/// How long the end waits for connections in use: one may be without an answer.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// Connections to lend; clones share them.
#[derive(Clone, Debug)]
pub(super) struct Connections {
    pool: PgPool,
    primary: Arc<Primary>,
}

impl Connections {
    pub(super) fn new(options: PgConnectOptions, primary: &Arc<Primary>) -> Self {
        Self::of(CONNECTIONS, options, primary)
    }

    /// Connections for one task, and a spare one.
    pub(super) fn few(options: PgConnectOptions, primary: &Arc<Primary>) -> Self {
        Self::of(FEW, options, primary)
    }

    fn of(limit: u32, options: PgConnectOptions, primary: &Arc<Primary>) -> Self {
        let pool = PgPoolOptions::new()
            .max_connections(limit)
            .acquire_timeout(ACQUIRE_TIMEOUT)
            .max_lifetime(MAX_LIFETIME)
            .idle_timeout(IDLE_TIMEOUT)
            .test_before_acquire(false)
            .before_acquire({
                let primary = Arc::clone(primary);
                move |connection, meta| {
                    let is_stale = primary.is_stale(meta.age);
                    let must_be_asked =
                        meta.idle_for >= PING_AFTER || primary.is_suspect(meta.idle_for);
                    Box::pin(async move {
                        Ok(!is_stale && (!must_be_asked || is_writable(connection).await))
                    })
                }
            })
            .after_release({
                let primary = Arc::clone(primary);
                move |_, meta| {
                    let is_stale = primary.is_stale(meta.age);
                    Box::pin(async move { Ok(!is_stale) })
                }
            });
        Self {
            pool: primary::admitting(pool, primary).connect_lazy_with(options),
            primary: Arc::clone(primary),
        }
    }

    pub(super) async fn acquire(&self) -> Result<PoolConnection<Postgres>, Fault> {
        let acquired = self.pool.acquire().await;
        acquired.map_err(|error| match (error, self.primary.refusal()) {
            (sqlx::Error::PoolTimedOut, Some(refusal)) => refusal.into(),
            (error, _) => error.into(),
        })
    }

    /// Has every connection of the store that lies idle now asked before it is used again.
    pub(super) fn suspect_all(&self) {
        self.primary.suspect_all();
    }

    pub(super) const fn pool(&self) -> &PgPool {
        &self.pool
    }

    pub(super) async fn close(&self) {
        if timeout(CLOSE_TIMEOUT, self.pool.close()).await.is_err() {
            tracing::warn!("connections to the database were still in use and were cut off");
        }
    }
}

async fn is_writable(connection: &mut PgConnection) -> bool {
    let asked = timeout(PING_TIMEOUT, primary::is_writable(connection));
    matches!(asked.await, Ok(Ok(true)))
}
