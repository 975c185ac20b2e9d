//! What the janitor removes or sums up, a little at a time.

use std::sync::Arc;

use async_trait::async_trait;
use preauth_core::port::Unavailable;
use preauth_core::value::Timestamp;
use tokio::sync::Notify;

/// Deliveries settled by one transaction: few enough that nobody notices.
pub(super) const SETTLE_BATCH_SIZE: u32 = 1_000;

/// Removes what need not be kept any longer, and does what is done a little at a time.
///
/// Each call removes at most `limit` records, so that no write waits long behind it, and says how
/// many it removed: fewer than `limit` means that none is left.
#[async_trait]
pub trait Housekeeping: Send + Sync {
    /// Does what follows for deliveries when an endpoint was removed (they end) or resumed (they are
    /// due); 0 when nothing is left to do.
    async fn settle_endpoints(&self, limit: u32) -> Result<u64, Unavailable>;

    /// Notified when there is more to settle than was done at once. A hint: what a crash leaves is
    /// found by settling now and then.
    fn endpoints_unsettled(&self) -> Arc<Notify>;

    /// Removes idempotency replies, those of the platform included, that had expired at `now`; they
    /// answer nothing any more.
    async fn forget_expired_replies(&self, now: Timestamp, limit: u32) -> Result<u64, Unavailable>;

    /// Removes the rate windows of keys that are revoked or expired at `now` and were last used
    /// before `unused_since`, and counts of windows that later ones replaced. A living key keeps its
    /// latest window, and with it the time of its last use.
    async fn forget_rate_windows(
        &self,
        now: Timestamp,
        unused_since: Timestamp,
        limit: u32,
    ) -> Result<u64, Unavailable>;

    /// Removes deliveries, with their attempts, that ended before `ended_before`. Pending ones,
    /// those of paused endpoints included, are never removed.
    async fn forget_ended_deliveries(
        &self,
        ended_before: Timestamp,
        limit: u32,
    ) -> Result<u64, Unavailable>;

    /// Removes mails that were sent or given up before `ended_before`. Those that wait are never
    /// removed.
    async fn forget_ended_notices(
        &self,
        ended_before: Timestamp,
        limit: u32,
    ) -> Result<u64, Unavailable>;

    /// Sums up counts that are kept as many rows; what they come to stays the same.
    async fn sum_up_counts(&self, limit: u32) -> Result<u64, Unavailable>;
}
