//! Monitoring of a database.

use async_trait::async_trait;
use chrono::TimeDelta;
use preauth_core::port::Unavailable;
use preauth_core::value::Timestamp;

use crate::fair::Refusals;

use super::idle_stack::IdleStack;

/// Counting stops here: a larger number is no more useful, and takes longer.
pub(super) const COUNT_LIMIT: u32 = 10_000;
/// Ends of keys later than that are not looked for.
pub const LOOKED_AHEAD: TimeDelta = TimeDelta::days(60);

/// Monitoring queries: their cost does not grow with the data, and they never write.
#[async_trait]
pub trait Watch: Send + Sync {
    /// The waiting work at `now`; every instance on the database gets the same.
    async fn waiting(&self, now: Timestamp) -> Result<Waiting, Unavailable>;

    /// What ends soon or is overdue at `now`, the same for every instance. This cost grows with the number of
    /// API keys, and with nothing else.
    async fn deadlines(&self, now: Timestamp) -> Result<Deadlines, Unavailable>;

    /// The number of head offices whose invoice files have at least this many bytes.
    async fn offices_with_files_of(&self, bytes: u64) -> Result<u32, Unavailable>;

    /// The current use of this process's own connections.
    fn usage(&self) -> Usage;

    /// The number of unreadable rows of each table that this process skipped since it began.
    fn set_aside(&self) -> Vec<(&'static str, u64)>;
}

/// Waiting work; each kind is counted up to 10,000, except the endpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Due deliveries of active endpoints, those in progress included.
    pub due_deliveries: u32,
    /// Pending deliveries of paused endpoints.
    pub paused_deliveries: u32,
    /// Pending deliveries of which an attempt has failed.
    pub retried_deliveries: u32,
    /// When the event of the oldest of these happened.
    pub oldest_retried_at: Option<Timestamp>,
    /// Paused endpoints that have pending deliveries.
    pub paused_endpoints: u32,
    /// Active endpoints where nothing arrives, as the janitor noted them.
    pub failing_endpoints: u32,
    /// Stored mails that were not sent yet.
    pub staged_mails: u32,
}

/// What ends soon, and what should have been done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadlines {
    /// Offers whose time is over and that are not expired yet, counted up to 10,000.
    pub overdue_offers: u32,
    /// When the time of the first of them was over.
    pub oldest_overdue_at: Option<Timestamp>,
    /// When the oldest row of the audit log was written that has no seal yet.
    pub oldest_unsealed_at: Option<Timestamp>,
    /// When the first of the API keys ends that were used within 7 days, if it is within 60 days.
    pub api_key_ends_at: Option<Timestamp>,
    /// The same of the operators' tokens.
    pub operator_token_ends_at: Option<Timestamp>,
}

/// A process's connections and queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// `sqlite` or `postgresql`.
    pub database: &'static str,
    /// Connections in use; on SQLite those of readers.
    pub connections_in_use: u32,
    /// Open idle connections.
    pub connections_idle: u32,
    /// The maximum number of connections.
    pub connections_limit: u32,
    /// Writes that are queued; only SQLite has such a queue.
    pub write_queue: Option<WriteQueue>,
    /// Size of SQLite's write-ahead log.
    pub log_bytes: Option<u64>,
    /// How often the database's name led to another server, or to a restarted one; only on
    /// PostgreSQL.
    pub switches: Option<u64>,
    /// Requests that the queues before the database refused so far.
    pub refusals: Refusals,
}

/// The queue of the task that writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteQueue {
    /// Queued writes.
    pub length: u32,
    /// The maximum of queued writes.
    pub limit: u32,
}

impl Usage {
    pub(super) fn of<D: sqlx::Database>(
        database: &'static str,
        connections: &IdleStack<D>,
        write_queue: Option<WriteQueue>,
        refusals: Refusals,
    ) -> Self {
        let idle = u32::try_from(connections.idle()).unwrap_or(u32::MAX);
        let pool = connections.pool();
        Self {
            database,
            connections_in_use: pool.size().saturating_sub(idle),
            connections_idle: idle,
            connections_limit: pool.options().get_max_connections(),
            write_queue,
            log_bytes: None,
            switches: None,
            refusals,
        }
    }
}
