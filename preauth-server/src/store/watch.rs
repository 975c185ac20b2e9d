//! What operators watch of a database.

use async_trait::async_trait;
use preauth_core::port::Unavailable;
use preauth_core::value::Timestamp;

use crate::fair::Refusals;

/// Nothing is counted further than this: more is as alarming, and would take longer to count.
pub(super) const COUNT_LIMIT: u32 = 10_000;

/// A look from outside: cheap however much is stored, and never a write.
#[async_trait]
pub trait Watch: Send + Sync {
    /// What waits at `now`; the same from every instance on the database.
    async fn waiting(&self, now: Timestamp) -> Result<Waiting, Unavailable>;

    /// How many head offices have invoice files of so many bytes or more.
    async fn offices_with_files_of(&self, bytes: u64) -> Result<u32, Unavailable>;

    /// How this process uses its own connections, at this moment.
    fn usage(&self) -> Usage;

    /// How many rows of each table this process could not read and set aside since it began.
    fn set_aside(&self) -> Vec<(&'static str, u64)>;
}

/// What waits; each is counted up to 10,000, except the endpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Due deliveries of active endpoints, those under way included.
    pub due_deliveries: u32,
    /// Pending deliveries of paused endpoints.
    pub paused_deliveries: u32,
    /// Paused endpoints that have pending deliveries.
    pub paused_endpoints: u32,
    /// Mails that are staged and not sent.
    pub staged_notices: u32,
}

/// A process's connections and queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// `sqlite` or `postgresql`.
    pub database: &'static str,
    /// Connections that somebody works with; on SQLite those of readers.
    pub connections_in_use: u32,
    /// Connections that are open and wait for work.
    pub connections_idle: u32,
    /// As many as there may be.
    pub connections_limit: u32,
    /// Writes that wait for their turn; only SQLite has such a queue.
    pub write_queue: Option<WriteQueue>,
    /// How often the database's name led to another server than before, or to one that was restarted; only
    /// on PostgreSQL.
    pub switches: Option<u64>,
    /// Requests that queues before the database refused so far.
    pub refusals: Refusals,
}

/// The queue before the one task that writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteQueue {
    /// Writes that wait.
    pub length: u32,
    /// As many as may wait.
    pub limit: u32,
}

impl Usage {
    pub(super) fn of<D: sqlx::Database>(
        database: &'static str,
        pool: &sqlx::Pool<D>,
        write_queue: Option<WriteQueue>,
        refusals: Refusals,
    ) -> Self {
        let idle = u32::try_from(pool.num_idle()).unwrap_or(u32::MAX);
        Self {
            database,
            connections_in_use: pool.size().saturating_sub(idle),
            connections_idle: idle,
            connections_limit: pool.options().get_max_connections(),
            write_queue,
            switches: None,
            refusals,
        }
    }
}
