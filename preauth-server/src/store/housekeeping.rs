//! Housekeeping: removes or sums up records in small batches.

use std::sync::Arc;

use async_trait::async_trait;
use preauth_core::port::Unavailable;
use preauth_core::value::Timestamp;
use tokio::sync::Notify;

/// Deliveries settled by one transaction: few enough that other writes are not delayed.
pub(super) const SETTLE_BATCH_SIZE: u32 = 1_000;

/// Removes records after their retention, and does other work in small batches.
///
/// Each call removes at most `limit` records, so that other writes do not wait long, and returns
/// the number removed: fewer than `limit` means that none is left.
#[async_trait]
pub trait Housekeeping: Send + Sync {
    /// Settles the deliveries of an endpoint that was removed (they fail) or resumed (they are
    /// due); returns 0 when nothing is left to do.
    async fn settle_endpoints(&self, limit: u32) -> Result<u64, Unavailable>;

    /// Notified when there is more to settle than one batch. A hint: after a crash the rest is
    /// found by settling at intervals.
    fn endpoints_unsettled(&self) -> Arc<Notify>;

    /// Repairs what a clock leaves behind that was ahead for a while and came back, for at most `limit`
    /// deliveries and as many mails: one that is due later than its schedule allows becomes due `now`, and
    /// a lease that lasts longer than any lease ends
    /// ([`Outbox::bring_forward`](preauth_core::port::Outbox::bring_forward)).
    async fn bring_forward(&self, now: Timestamp, limit: u32) -> Result<u64, Unavailable>;

    /// Notes endpoints that begin to fail or end it, as of `now`, and stages mails to their companies, each together
    /// with its reason: once for an episode, and for failing once in six hours. Returns the number of changes.
    ///
    /// An endpoint fails while it is active and a delivery had two failed attempts in a row, with nothing delivered
    /// since the first of them; until something is delivered.
    async fn notify_of_failing(&self, now: Timestamp, limit: u32) -> Result<u64, Unavailable>;

    /// Removes idempotency replies that had expired at `now`, those of the platform API included;
    /// expired replies are never returned.
    async fn forget_expired_replies(&self, now: Timestamp, limit: u32) -> Result<u64, Unavailable>;

    /// Removes the rate windows of keys that are revoked or expired at `now` and were last used
    /// before `unused_since`, and counts of superseded windows. A valid key keeps its latest
    /// window, and with it the time of its last use.
    async fn forget_rate_windows(
        &self,
        now: Timestamp,
        unused_since: Timestamp,
        limit: u32,
    ) -> Result<u64, Unavailable>;

    /// Removes deliveries that ended before `ended_before`, with their attempts. Pending ones,
    /// those of paused endpoints included, are never removed.
    async fn forget_ended_deliveries(
        &self,
        ended_before: Timestamp,
        limit: u32,
    ) -> Result<u64, Unavailable>;

    /// Removes mails that were sent or given up before `ended_before`. Waiting ones are never
    /// removed.
    async fn forget_ended_mails(
        &self,
        ended_before: Timestamp,
        limit: u32,
    ) -> Result<u64, Unavailable>;

    /// Removes the invoice files of operations that were concluded or reproved before `ended_before`, among the
    /// next `limit` operations with a file after this one; the files' content follows a day after `now`, unless
    /// another operation names it: a backup that runs meanwhile still copies it.
    async fn forget_old_files(
        &self,
        now: Timestamp,
        ended_before: Timestamp,
        after: i64,
        limit: u32,
    ) -> Result<OldFiles, Unavailable>;

    /// Removes the numbers by which events before `before` are read on request; the events stay, as the history of
    /// their records. It may remove a few more than `limit`.
    async fn forget_event_numbers(&self, before: Timestamp, limit: u32)
    -> Result<u64, Unavailable>;

    /// Sums up counts that are spread over many rows; the totals stay the same.
    async fn sum_up_counts(&self, limit: u32) -> Result<u64, Unavailable>;
}

/// A step through old invoice files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OldFiles {
    /// The number of removed files.
    pub removed: u64,
    /// The operation after which to go on; `None` at the end.
    pub next: Option<i64>,
}
