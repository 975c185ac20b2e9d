//! The connection pools: which connections are tested before use, and when they are closed.

use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgConnection, PgPoolOptions, Postgres};
use tokio::time::timeout;

use crate::store::error::Fault;
use crate::store::idle_stack::{IdleStack, Lent};

use super::primary::{self, Primary, WarmUp};

/// Connections of one instance; twice as many were not faster on the machines measured.
pub(super) const CONNECTIONS: u32 = 16;
/// Maximum number of tenants' requests that wait for a connection.
pub(super) const MAX_WAITING: usize = 2048;
/// Maximum wait for a free connection.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);
/// A connection that was idle for longer is tested: its server must answer and accept writes. A
/// test before every use would double the round trips of a read.
const PING_AFTER: Duration = Duration::from_secs(5);
/// Timeout of the test.
const PING_TIMEOUT: Duration = Duration::from_secs(1);
/// Connections are renewed, to release the memory of their sessions.
const MAX_LIFETIME: Duration = Duration::from_mins(30);
const IDLE_TIMEOUT: Duration = Duration::from_mins(5);
/// Maximum wait at shutdown for connections in use: one may never get its answer.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// A pool of connections; clones share it.
#[derive(Clone, Debug)]
pub(super) struct Connections {
    stack: IdleStack<Postgres>,
    primary: Arc<Primary>,
}

impl Connections {
    pub(super) fn new(options: PgConnectOptions, primary: &Arc<Primary>) -> Self {
        Self::at_most(CONNECTIONS, options, primary)
    }

    /// A pool whose new connections are prepared by `warm_up`.
    pub(super) fn prepared(
        limit: u32,
        options: PgConnectOptions,
        primary: &Arc<Primary>,
        warm_up: WarmUp,
    ) -> Self {
        Self::of(limit, options, primary, Some(warm_up))
    }

    /// A pool for `tasks`: a connection for each, and one to replace a broken one that is still being closed.
    pub(super) fn apart(tasks: u32, options: PgConnectOptions, primary: &Arc<Primary>) -> Self {
        Self::at_most(tasks.saturating_add(1), options, primary)
    }

    fn at_most(limit: u32, options: PgConnectOptions, primary: &Arc<Primary>) -> Self {
        Self::of(limit, options, primary, None)
    }

    fn of(
        limit: u32,
        options: PgConnectOptions,
        primary: &Arc<Primary>,
        warm_up: Option<WarmUp>,
    ) -> Self {
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
                    let must_be_asked = must_be_asked(&primary, meta.idle_for);
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
        let pool = primary::admitting(pool, primary, warm_up).connect_lazy_with(options);
        Self {
            stack: IdleStack::before(pool),
            primary: Arc::clone(primary),
        }
    }

    pub(super) async fn acquire(&self) -> Result<Lent<Postgres>, Fault> {
        let acquired = match self.stack.last_used() {
            Err(waiting) => waiting.acquire().await,
            Ok(lent) if self.primary.is_stale(lent.out_for()) => {
                // The pool knows how old each of them is.
                lent.release();
                self.stack.take_all().for_each(Lent::release);
                self.stack.acquire().await
            }
            Ok(mut lent) => {
                let must_be_asked = must_be_asked(&self.primary, lent.idle_for());
                if !must_be_asked || is_writable(lent.connection()?).await {
                    return Ok(lent);
                }
                drop(lent);
                // These were idle for longer.
                self.stack.take_all().for_each(drop);
                self.stack.acquire().await
            }
        };
        acquired.map_err(|error| match (error, self.primary.refusal()) {
            (sqlx::Error::PoolTimedOut, Some(refusal)) => refusal.into(),
            (sqlx::Error::PoolTimedOut, None) => match self.primary.no_connection() {
                Some(text) => Fault::NoConnection(text),
                None => sqlx::Error::PoolTimedOut.into(),
            },
            (error, _) => error.into(),
        })
    }

    /// Opens connections until there are `count`, and uses those that are idle, which are not closed then. A failure is met again
    /// by whatever needs one.
    pub(super) async fn keep_open(&self, count: u32) {
        let mut kept = Vec::new();
        for _ in 0..count {
            if self.stack.idle() == 0 && self.stack.pool().size() >= count {
                break;
            }
            let Ok(lent) = self.acquire().await else {
                break;
            };
            kept.push(lent);
        }
        kept.into_iter().for_each(Lent::give_back);
    }

    /// Has every idle connection of the store tested before its next use.
    pub(super) fn recheck_idle(&self) {
        self.primary.recheck_idle();
    }

    pub(super) const fn stack(&self) -> &IdleStack<Postgres> {
        &self.stack
    }

    pub(super) async fn close(&self) {
        if timeout(CLOSE_TIMEOUT, self.stack.close()).await.is_err() {
            tracing::warn!("connections to the database were still in use and were cut off");
        }
    }
}

fn must_be_asked(primary: &Primary, idle_for: Duration) -> bool {
    idle_for >= PING_AFTER || primary.is_suspect(idle_for)
}

async fn is_writable(connection: &mut PgConnection) -> bool {
    let asked = timeout(PING_TIMEOUT, primary::is_writable(connection));
    matches!(asked.await, Ok(Ok(true)))
}
