//! On whose account work is done, and how long it has waited.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use preauth_core::value::CompanyId;
use tokio::time::Instant;

/// How long a request waits in queues, all in all.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long it waits in each, however long it waited before: what it began should be finished.
const MIN_PATIENCE: Duration = Duration::from_secs(1);

tokio::task_local! {
    static TICKET: Arc<Ticket>;
}

/// Whoever shares what is scarce with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tenant {
    /// The service itself: deliveries, mails, expiry, retention. It does not give up.
    Service,
    /// The platform's people.
    Platform,
    /// A head office with all its branches and keys.
    HeadOffice(CompanyId),
    /// Everybody whose key was not seen yet.
    Unknown,
}

/// A request's place in every queue that it comes to.
#[derive(Debug)]
pub(super) struct Ticket {
    pub(super) tenant: Tenant,
    /// Shared by all tenants that one request is counted as, one after the other.
    waited_ms: Arc<AtomicU64>,
}

/// Does `work` on account of `tenant`: every queue that it comes to counts it as that tenant's.
///
/// This is known to the task, not passed on: between the request and the queues lie ports that have
/// nothing to do with it. A task that was not given a tenant works for the service itself.
pub async fn on_account_of<F: Future>(tenant: Tenant, work: F) -> F::Output {
    let waited_ms = TICKET.try_with(|outer| Arc::clone(&outer.waited_ms));
    let ticket = Ticket {
        tenant,
        waited_ms: waited_ms.unwrap_or_default(),
    };
    TICKET.scope(Arc::new(ticket), work).await
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

    /// When it has waited for too long in a queue that it comes to now; never for the service itself.
    pub(super) fn deadline(&self, now: Instant) -> Option<Instant> {
        if self.tenant == Tenant::Service {
            return None;
        }
        let waited = Duration::from_millis(self.waited_ms.load(Ordering::Relaxed));
        now.checked_add(PATIENCE.saturating_sub(waited).max(MIN_PATIENCE))
    }

    pub(super) fn note_wait(&self, wait: Duration) {
        let wait = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        self.waited_ms.fetch_add(wait, Ordering::Relaxed);
    }
}
