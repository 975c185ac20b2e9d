//! What a server asks of its database besides the data.

use std::sync::Arc;

use async_trait::async_trait;
use preauth_core::port::Unavailable;
use tokio::sync::Notify;

/// Readiness, wake-ups and the end of a database.
#[async_trait]
pub trait Lifecycle: Send + Sync {
    /// Whether the database answers, takes writes, and has exactly this build's schema.
    async fn check(&self) -> Result<(), Unavailable>;

    /// Ends the database in order: what was accepted is written, what comes after is refused.
    /// Closing it again does nothing.
    async fn close(&self);

    /// Notified once after every write that made deliveries due at once, so that a dispatcher in
    /// this process need not poll. A hint: on start, and for later due times, ask the outbox.
    fn deliveries_waiting(&self) -> Arc<Notify>;
}
