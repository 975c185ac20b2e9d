//! Operations on the database as a whole.

use std::sync::Arc;

use async_trait::async_trait;
use preauth_core::port::Unavailable;
use preauth_core::value::Timestamp;
use thiserror::Error;
use tokio::sync::Notify;

use crate::clock::MAX_OFFSET;
use crate::worker::LoopHealth;

use super::SchemaMismatch;

/// Why a database cannot serve. Each text is for operators and contains no name and no address.
#[derive(Debug, Error)]
pub enum Unfit {
    /// It cannot be reached, or a request failed.
    #[error("the database does not answer")]
    Unreachable(#[source] Unavailable),
    /// This build does not support its schema.
    #[error("the database cannot be used: {0}")]
    Schema(SchemaMismatch),
    /// Its disk has no room.
    #[error("the disk of the database is full; make room on it")]
    Full(#[source] Unavailable),
    /// It is a standby, or set to read-only.
    #[error("the database takes no writes")]
    ReadOnly,
}

/// Times from a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moments {
    /// The database's own clock, if it is another than this machine's.
    pub now: Option<Timestamp>,
    /// The time of its latest event; `None` before the first.
    pub latest_recorded: Option<Timestamp>,
}

impl Moments {
    /// The operator's text when this machine's clock, which shows `machine`, is too far behind the latest
    /// recorded time of a database without a clock of its own.
    #[must_use]
    pub fn behind(&self, machine: Timestamp) -> Option<String> {
        let latest = self.latest_recorded.filter(|_| self.now.is_none())?;
        let behind = latest.since(machine);
        (behind > MAX_OFFSET).then(|| {
            let seconds = behind.num_seconds();
            format!(
                "this machine's clock is {seconds} s behind the latest recorded moment, {latest}"
            )
        })
    }
}

/// Readiness, wake-ups and closing of a database.
#[async_trait]
pub trait Lifecycle: Send + Sync {
    /// Whether the database answers, accepts writes, and has a schema that this build supports.
    async fn check(&self) -> Result<(), Unfit>;

    /// Whether the disk is full: it answers reads, and no write is confirmed. Only an embedded database knows its disk.
    async fn is_full(&self) -> bool {
        false
    }

    /// The times from the database.
    async fn moments(&self) -> Result<Moments, Unavailable>;

    /// How often another server has taken the place of the database's: after each, it may be another database.
    fn switches(&self) -> u64 {
        0
    }

    /// Prepares what the first requests would otherwise wait for. What fails is met again by whatever needs it.
    async fn warm_up(&self) {}

    /// The loops in this process that the database needs.
    fn loops(&self) -> Vec<Arc<LoopHealth>>;

    /// Closes the database in order: accepted writes are finished, later ones are refused.
    /// Idempotent.
    async fn close(&self);

    /// Notified once after every write that made deliveries due now, so that a dispatcher in this
    /// process need not poll. A hint: on start, and for later due times, query the outbox.
    fn deliveries_waiting(&self) -> Arc<Notify>;
}
