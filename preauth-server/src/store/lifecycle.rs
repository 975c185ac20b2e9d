//! What a server asks of its database besides the data.

use std::sync::Arc;

use async_trait::async_trait;
use preauth_core::port::Unavailable;
use preauth_core::value::Timestamp;
use thiserror::Error;
use tokio::sync::Notify;

use crate::worker::LoopHealth;

use super::SchemaMismatch;

/// Why a database cannot serve. Each text is for operators and holds no name and no address.
#[derive(Debug, Error)]
pub enum Unfit {
    /// It cannot be reached, or did not do what it was asked.
    #[error("the database does not answer")]
    Unreachable(#[source] Unavailable),
    /// This build cannot work on its schema.
    #[error("the database cannot be used: {0}")]
    Schema(SchemaMismatch),
    /// It is a standby, or was set so.
    #[error("the database takes no writes")]
    ReadOnly,
}

/// What a database knows of the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moments {
    /// What its own clock reads, if it has one apart from this machine's.
    pub now: Option<Timestamp>,
    /// When its latest event happened; none before the first.
    pub latest_recorded: Option<Timestamp>,
}

/// Readiness, wake-ups and the end of a database.
#[async_trait]
pub trait Lifecycle: Send + Sync {
    /// Whether the database answers, takes writes, and has a schema that this build works on.
    async fn check(&self) -> Result<(), Unfit>;

    /// What the database knows of the time.
    async fn moments(&self) -> Result<Moments, Unavailable>;

    /// The loops in this process without which the database does nothing.
    fn loops(&self) -> Vec<Arc<LoopHealth>>;

    /// Ends the database in order: what was accepted is written, what comes after is refused.
    /// Closing it again does nothing.
    async fn close(&self);

    /// Notified once after every write that made deliveries due at once, so that a dispatcher in
    /// this process need not poll. A hint: on start, and for later due times, ask the outbox.
    fn deliveries_waiting(&self) -> Arc<Notify>;
}
