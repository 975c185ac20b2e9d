//! Events on request: the numbers by which they are read, and those who wait for the next one.

mod numberer;
mod waiters;

use std::sync::Arc;

use async_trait::async_trait;
use preauth_core::port::Unavailable;
use preauth_core::value::{CompanyId, Timestamp};
use tokio::sync::Notify;

pub use numberer::Numberer;
pub use waiters::{Waiter, Waiters};

/// Gives committed events the numbers by which they are read.
#[async_trait]
pub trait EventNumbers: Send + Sync {
    /// Numbers events that were committed before the call, as many as a batch takes, and returns who has new ones, whichever
    /// instance numbered them. A database that numbers events as it commits them only returns that.
    async fn number(&self, look: Look) -> Result<Numbered, Unavailable>;

    /// Notified after this process has committed an event. A hint.
    fn committed(&self) -> Arc<Notify>;
}

/// A look at new events.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// The time of the service.
    pub now: Timestamp,
    /// Events before it are not numbered any more, if that was missed.
    pub kept_since: Timestamp,
    /// Up to where the look before had reported; `None` for the first one, which reports nobody.
    pub since: Option<i64>,
}

/// The outcome of a look.
#[derive(Clone, Debug, Default)]
pub struct Numbered {
    /// The head offices that have new events, in any order, perhaps repeated.
    pub head_offices: Vec<CompanyId>,
    /// Up to where it reports.
    pub upto: i64,
    /// Whether another look at once will find more.
    pub has_more: bool,
}
