//! The history of deliveries.

use async_trait::async_trait;
use chrono::TimeDelta;
use preauth_core::port::{DeliveryStatus as Stored, PageRequest, Unavailable};
use preauth_core::text_enum;
use preauth_core::value::{CompanyId, DeliveryId, EventId, EventType, OperationId, Timestamp};

use super::{DirectoryError, Page, ResendPlace, ResendRange, Resendable, Resent};

/// Maximum number of deliveries per write, so that other writes do not wait long.
const BATCH: u32 = 1_000;
/// Maximum number of batches that one request for a range of time reads; the next one goes on.
const MAX_BATCHES: usize = 20;

text_enum! {
    /// The status of a delivery as the platform shows it.
    // Not the stored status of core: a delivery of a paused endpoint is stored as pending, so that
    // pausing changes one row.
    pub enum DeliveryStatus, "delivery status" {
        /// It will be attempted.
        Pending => "PENDING",
        /// It arrived.
        Delivered => "DELIVERED",
        /// Its attempts are used up, or its endpoint was removed.
        Failed => "FAILED",
        /// Waiting for its endpoint to be resumed.
        Paused => "PAUSED",
    }
}

impl DeliveryStatus {
    /// The status that is shown for a stored one.
    #[must_use]
    pub const fn of(stored: Stored, endpoint_is_paused: bool) -> Self {
        match stored {
            Stored::Pending if endpoint_is_paused => Self::Paused,
            Stored::Pending => Self::Pending,
            Stored::Delivered => Self::Delivered,
            Stored::Failed => Self::Failed,
        }
    }
}

/// A delivery with its attempts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The platform's id.
    pub id: DeliveryId,
    /// The head office whose endpoint it goes to.
    pub company: CompanyId,
    /// The event it carries.
    pub event: EventId,
    /// The operation that the event is about.
    pub operation: Option<OperationId>,
    /// The text of the event's type, which a newer version may have recorded.
    pub event_type: String,
    /// Its status; a pending delivery of a paused endpoint is shown as paused.
    pub status: DeliveryStatus,
    /// When it is attempted next; `None` unless it is pending.
    pub next_attempt_at: Option<Timestamp>,
    /// When the event happened.
    pub created_at: Timestamp,
    /// The attempts made, oldest first.
    pub attempts: Vec<AttemptRecord>,
    /// The body as sent.
    pub body: String,
}

/// One attempt of a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptRecord {
    /// From 1.
    pub number: u32,
    /// When it began.
    pub at: Timestamp,
    /// How long the whole exchange took, in milliseconds.
    pub duration_ms: u64,
    /// The answer's status, if there was an answer.
    pub http_status: Option<u16>,
    /// Why it failed, if it did.
    pub error: Option<String>,
    /// The first 1,024 bytes of the answer, as text; invalid UTF-8 is replaced.
    pub response_body: Option<String>,
    /// The text of its [`Trigger`](preauth_core::port::Trigger).
    pub trigger: String,
}

/// The filter of a list of deliveries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeliveryFilter {
    /// Only this status.
    pub status: Option<DeliveryStatus>,
    /// Only of this event type.
    pub event_type: Option<EventType>,
    /// Only about this operation.
    pub operation: Option<OperationId>,
    /// Only those that wait for this reason.
    pub wait: Option<DeliveryWait>,
}

text_enum! {
    /// Why a delivery still waits, in a way that somebody should look at.
    pub enum DeliveryWait, "wait" {
        /// An attempt failed, and another one follows.
        AfterFailure => "AFTER_FAILURE",
        /// It has been due for five minutes, and nobody has attempted it.
        Overdue => "OVERDUE",
    }
}

/// How long a delivery may be due before it counts as overdue.
pub const OVERDUE_AFTER: TimeDelta = TimeDelta::minutes(5);

/// Reads and resends deliveries.
#[async_trait]
pub trait Deliveries: Send + Sync {
    /// A delivery with its attempts, if it exists.
    async fn delivery(&self, id: DeliveryId) -> Result<Option<Delivery>, Unavailable>;

    /// The deliveries of a head office, or of all of them, newest first, as they stand at `now`.
    async fn deliveries(
        &self,
        company: Option<CompanyId>,
        filter: DeliveryFilter,
        page: PageRequest,
        now: Timestamp,
    ) -> Result<Page<Delivery>, Unavailable>;

    /// Makes a delivered or failed delivery due at `at`, with a fresh schedule; conflict when it is
    /// still pending or its endpoint was removed.
    async fn resend(&self, id: DeliveryId, at: Timestamp) -> Result<(), DirectoryError>;

    /// Makes a pending delivery due at `at`, with a fresh schedule, unless an attempt of it is in progress;
    /// conflict when it is not pending, or its endpoint was removed or is paused.
    async fn hasten(&self, id: DeliveryId, at: Timestamp) -> Result<(), DirectoryError>;

    /// Does the same as [`resend`](Self::resend) with at most `limit` of a head office's deliveries that failed from `since` to
    /// `at`, the oldest first; those of a removed endpoint are not changed. Returns their number:
    /// fewer than `limit` means that none is left.
    async fn resend_failed(
        &self,
        company: CompanyId,
        since: Timestamp,
        at: Timestamp,
        limit: u32,
    ) -> Result<u64, DirectoryError>;

    /// Reads the next `limit` deliveries of a head office after a place, in the order of their events, and returns
    /// those of the range that ended until it began.
    async fn resendable(
        &self,
        range: &ResendRange,
        after: Option<ResendPlace>,
        limit: u32,
    ) -> Result<Resendable, Unavailable>;

    /// Does the same as [`resend`](Self::resend) with these deliveries, unless they have been queued or have ended since
    /// the range began, or their endpoint was removed. Returns the number of those that are due again.
    async fn resend_ended(
        &self,
        range: &ResendRange,
        deliveries: Vec<DeliveryId>,
        at: Timestamp,
    ) -> Result<u64, DirectoryError>;
}

/// Makes all failed deliveries of a head office due at `now` that failed since `since`, batch after
/// batch, and returns their number. A delivery that fails again in the meantime failed after `now`
/// and is not included.
pub async fn resend_all_failed(
    deliveries: &dyn Deliveries,
    company: CompanyId,
    since: Timestamp,
    now: Timestamp,
) -> Result<u64, DirectoryError> {
    let mut count: u64 = 0;
    loop {
        let batch = deliveries.resend_failed(company, since, now, BATCH);
        let resent = batch.await?;
        count = count.saturating_add(resent);
        if resent < u64::from(BATCH) {
            return Ok(count);
        }
    }
}

/// Makes the deliveries of `range` after a place due at `due_at`, with a fresh schedule, or only counts them. Repeating
/// a request with the same beginning, whose answer was lost, queues nothing twice: what it queued still waits, or ended
/// after the beginning.
pub async fn resend_range(
    deliveries: &dyn Deliveries,
    range: &ResendRange,
    after: Option<ResendPlace>,
    due_at: Option<Timestamp>,
) -> Result<Resent, DirectoryError> {
    let mut resent = Resent {
        next: after,
        ..Resent::default()
    };
    for _ in 0..MAX_BATCHES {
        let found = deliveries.resendable(range, resent.next, BATCH).await?;
        let mut count = u64::try_from(found.deliveries.len()).unwrap_or(u64::MAX);
        if let Some(due_at) = due_at.filter(|_| count > 0) {
            let queued = deliveries.resend_ended(range, found.deliveries, due_at);
            count = queued.await?;
        }
        resent.count = resent.count.saturating_add(count);
        resent.paused = resent.paused.saturating_add(found.paused.min(count));
        resent.endpoint_removed = resent
            .endpoint_removed
            .saturating_add(found.endpoint_removed);
        resent.next = found.next;
        if found.next.is_none() {
            break;
        }
    }
    Ok(resent)
}
