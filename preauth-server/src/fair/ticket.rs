//! The tenant of a piece of work, and how long it has waited.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use preauth_core::value::CompanyId;
use tokio::time::{Instant, timeout_at};

use super::QueueError;

/// Maximum time that a request waits in all its queues together.
const PATIENCE: Duration = Duration::from_secs(5);
/// Minimum time that it may wait in each queue, however long it waited before: work that has begun
/// should be finished.
const MIN_PATIENCE: Duration = Duration::from_secs(1);

tokio::task_local! {
    static TICKET: Arc<Ticket>;
}

/// A party that shares limited resources with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tenant {
    /// The service itself: deliveries, mails, expiry, retention. It waits without a deadline.
    Service,
    /// The platform's own staff.
    Platform,
    /// A head office with all its branches and keys.
    HeadOffice(CompanyId),
    /// All callers whose key was not seen yet.
    Unknown,
}

impl Tenant {
    /// The tenant that the current task works for.
    #[must_use]
    pub fn of_this_task() -> Self {
        Ticket::current().tenant
    }
}

/// A request's ticket for every queue that it enters.
#[derive(Debug)]
pub(super) struct Ticket {
    pub(super) tenant: Tenant,
    /// Shared by all tenants that one request counts as in succession.
    waited_ms: Arc<AtomicU64>,
}

/// Runs `work` for `tenant`: every queue that it enters counts it as that tenant's.
///
/// The tenant is stored in the task and not passed as an argument, because the ports between the
/// request and the queues have nothing to do with it. A task without a tenant works for the service
/// itself.
pub async fn charged_to<F: Future>(tenant: Tenant, work: F) -> F::Output {
    let waited_ms = TICKET.try_with(|outer| Arc::clone(&outer.waited_ms));
    let ticket = Ticket {
        tenant,
        waited_ms: waited_ms.unwrap_or_default(),
    };
    TICKET.scope(Arc::new(ticket), work).await
}

/// Like [`charged_to`], as if the request had not waited in any queue yet: for work that it begins again and again,
/// with pauses in between.
pub async fn charged_anew_to<F: Future>(tenant: Tenant, work: F) -> F::Output {
    let ticket = Ticket {
        tenant,
        waited_ms: Arc::default(),
    };
    TICKET.scope(Arc::new(ticket), work).await
}

/// Runs one of several parts of a request that wait at the same time: each counts its own waits, after those that the request
/// had before.
pub async fn waiting_apart<F: Future>(work: F) -> F::Output {
    let whole = Ticket::current();
    let waited_ms = whole.waited_ms.load(Ordering::Relaxed);
    let ticket = Ticket {
        tenant: whole.tenant,
        waited_ms: Arc::new(AtomicU64::new(waited_ms)),
    };
    TICKET.scope(Arc::new(ticket), work).await
}

/// Waits for `turn` no longer than the request that this task works for may still wait in queues.
pub async fn in_time<F: Future>(turn: F) -> Result<F::Output, QueueError> {
    Ticket::current().in_time(Instant::now(), turn).await
}

impl Ticket {
    pub(super) fn current() -> Arc<Self> {
        TICKET.try_with(Arc::clone).unwrap_or_else(|_| {
            Arc::new(Self {
                tenant: Tenant::Service,
                waited_ms: Arc::default(),
            })
        })
    }

    /// The deadline in a queue that it enters now; `None` for the service itself.
    pub(super) fn deadline(&self, now: Instant) -> Option<Instant> {
        if self.tenant == Tenant::Service {
            return None;
        }
        let waited = Duration::from_millis(self.waited_ms.load(Ordering::Relaxed));
        now.checked_add(PATIENCE.saturating_sub(waited).max(MIN_PATIENCE))
    }

    /// Waits for `turn`, which it came to at `since`, until its deadline; and counts that as a wait.
    pub(super) async fn in_time<F: Future>(
        &self,
        since: Instant,
        turn: F,
    ) -> Result<F::Output, QueueError> {
        let Some(deadline) = self.deadline(since) else {
            return Ok(turn.await);
        };
        let had = timeout_at(deadline, turn).await;
        self.note_wait(since.elapsed());
        had.map_err(|_| QueueError::TimedOut)
    }

    pub(super) fn note_wait(&self, wait: Duration) {
        let wait = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        self.waited_ms.fetch_add(wait, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::time::Duration;

    use futures_util::future::join_all;
    use preauth_core::value::CompanyId;
    use tokio::time::{Instant, sleep};
    use uuid::Uuid;

    use super::{PATIENCE, Tenant, charged_to, in_time, waiting_apart};

    #[tokio::test(start_paused = true)]
    async fn parts_that_wait_at_the_same_time_count_their_own_waits() {
        let wait = Duration::from_secs(1);
        let part = || {
            waiting_apart(async {
                in_time(sleep(wait)).await.unwrap();
                let since = Instant::now();
                in_time(pending::<()>()).await.unwrap_err();
                since.elapsed()
            })
        };
        let head_office = Tenant::HeadOffice(CompanyId::new(Uuid::nil()));
        let left = charged_to(head_office, async {
            in_time(sleep(wait)).await.unwrap();
            join_all((0..100).map(|_| part())).await
        });
        for left in left.await {
            assert_eq!(left, PATIENCE.saturating_sub(wait).saturating_sub(wait));
        }
    }
}
