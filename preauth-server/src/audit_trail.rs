//! The row of the audit log that the current request leaves.
//!
//! The task knows it, like its tenant (`fair/ticket.rs`): every write of a store adds the row to its own
//! transaction, so that no endpoint can forget it.

use std::fmt::Display;
use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use preauth_core::port::{ActingOperator, Audited};
use preauth_core::value::{CompanyId, Timestamp};

tokio::task_local! {
    static REQUEST: Arc<AuditedRequest>;
}

/// A request of an operator that may change something, or was not permitted to.
#[derive(Debug)]
pub struct AuditedRequest {
    /// When it was admitted or refused.
    pub at: Timestamp,
    /// Who sent it.
    pub operator: ActingOperator,
    /// What it asks for.
    pub audited: Audited,
    /// The company that its path names.
    pub company: Option<CompanyId>,
    /// The record that it creates, once that is known.
    created: Mutex<Option<String>>,
    has_row: AtomicBool,
}

impl AuditedRequest {
    /// A request without a row so far.
    #[must_use]
    pub const fn new(
        at: Timestamp,
        operator: ActingOperator,
        audited: Audited,
        company: Option<CompanyId>,
    ) -> Self {
        Self {
            at,
            operator,
            audited,
            company,
            created: Mutex::new(None),
            has_row: AtomicBool::new(false),
        }
    }

    /// The request that the current task works for, unless it has left its row.
    #[must_use]
    pub fn without_row() -> Option<Arc<Self>> {
        let current = REQUEST.try_with(Arc::clone).ok();
        current.filter(|request| !request.has_row())
    }

    /// Whether a row of it is committed.
    #[must_use]
    pub fn has_row(&self) -> bool {
        self.has_row.load(Ordering::Relaxed)
    }

    /// A row of it is committed.
    pub fn note_row(&self) {
        self.has_row.store(true, Ordering::Relaxed);
    }

    /// The record, as paths name it.
    #[must_use]
    pub fn record(&self) -> String {
        let created = self.created.lock();
        let created = created.unwrap_or_else(PoisonError::into_inner);
        created.as_ref().unwrap_or(&self.audited.record).clone()
    }
}

/// Runs `work` for `request`: the first write that it commits leaves the request's row.
pub async fn auditing<F: Future>(request: Arc<AuditedRequest>, work: F) -> F::Output {
    REQUEST.scope(request, work).await
}

/// The request that the current task works for is about to create a record, which is called so from now on.
pub fn creating(kind: &str, id: impl Display) {
    // Other tasks create records, too.
    let _ = REQUEST.try_with(|request| {
        let created = request.created.lock();
        *created.unwrap_or_else(PoisonError::into_inner) = Some(format!("{kind}/{id}"));
    });
}

/// A row of the current task's request was committed.
pub fn note_row() {
    let _ = REQUEST.try_with(|request| request.note_row());
}
