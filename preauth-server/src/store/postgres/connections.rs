//! The pool, and what is known about connections that lie in it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sqlx::Executor;
use sqlx::pool::{PoolConnection, PoolConnectionMetadata};
use sqlx::postgres::{PgConnectOptions, PgConnection, PgPool, PgPoolOptions, Postgres};
use tokio::time::{Instant, timeout};

use super::error::Fault;

/// Connections of one instance; twice as many gave no more on the machines measured.
pub(super) const CONNECTIONS: u32 = 16;
/// Requests of tenants that may wait for one.
pub(super) const WAITING_LIMIT: usize = 2048;
/// One to work with, and one beside a broken one that is still being closed.
const FEW: u32 = 2;
/// How long a request waits for a free connection.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);
/// A connection that was idle for longer is asked whether it is still there. Asking every time
/// would double the round trips of a read.
const PING_AFTER: Duration = Duration::from_secs(5);
/// How long it may think about that.
const PING_TIMEOUT: Duration = Duration::from_secs(1);
/// Connections are renewed, so that an instance follows a database that moves.
const MAX_LIFETIME: Duration = Duration::from_mins(30);
const IDLE_TIMEOUT: Duration = Duration::from_mins(5);
/// How long the end waits for connections in use: one may be without an answer.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// Connections to lend; clones share them.
#[derive(Clone, Debug)]
pub(super) struct Connections {
    pool: PgPool,
    suspicion: Suspicion,
}

/// When a connection was last found broken. What has been idle since before then is probably
/// broken too: the database was restarted, or cannot be reached.
#[derive(Clone, Debug, Default)]
struct Suspicion(Arc<Mutex<Option<Instant>>>);

impl Connections {
    pub(super) fn new(options: PgConnectOptions) -> Self {
        Self::of(CONNECTIONS, options)
    }

    /// Connections for one task, and a spare one.
    pub(super) fn few(options: PgConnectOptions) -> Self {
        Self::of(FEW, options)
    }

    fn of(limit: u32, options: PgConnectOptions) -> Self {
        let suspicion = Suspicion::default();
        let pool = PgPoolOptions::new()
            .max_connections(limit)
            .acquire_timeout(ACQUIRE_TIMEOUT)
            .max_lifetime(MAX_LIFETIME)
            .idle_timeout(IDLE_TIMEOUT)
            .test_before_acquire(false)
            .before_acquire({
                let suspicion = suspicion.clone();
                move |connection, meta| {
                    let must_be_asked = suspicion.concerns(&meta);
                    Box::pin(async move { Ok(!must_be_asked || answers(connection).await) })
                }
            })
            .connect_lazy_with(options);
        Self { pool, suspicion }
    }

    pub(super) async fn acquire(&self) -> Result<PoolConnection<Postgres>, Fault> {
        Ok(self.pool.acquire().await?)
    }

    /// Has every connection that lies idle now asked before it is used again.
    pub(super) fn suspect_all(&self) {
        *self.suspicion.lock() = Some(Instant::now());
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

impl Suspicion {
    fn concerns(&self, connection: &PoolConnectionMetadata) -> bool {
        connection.idle_for >= PING_AFTER
            || (*self.lock()).is_some_and(|broken| connection.idle_for >= broken.elapsed())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn answers(connection: &mut PgConnection) -> bool {
    matches!(
        timeout(PING_TIMEOUT, connection.execute("")).await,
        Ok(Ok(_))
    )
}
