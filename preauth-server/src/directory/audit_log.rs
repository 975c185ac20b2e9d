//! The audit log.

use async_trait::async_trait;
use preauth_core::port::{ActingOperator, PageRequest, SealMark, Unavailable};
use preauth_core::text_enum;
use preauth_core::value::{CompanyId, OperatorName, Timestamp};
use serde::{Deserialize, Serialize};

use std::sync::Arc;

use crate::audit_trail::AuditedRequest;

use super::Page;

text_enum! {
    /// The outcome of a request in the audit log.
    pub enum AuditOutcome, "outcome" {
        /// It was accepted.
        Done => "DONE",
        /// The operator's role did not permit it.
        Forbidden => "FORBIDDEN",
    }
}

/// A setting that changed, as texts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The setting.
    pub setting: String,
    /// Its value before; `None` when it had none.
    pub before: Option<String>,
    /// Its value after; `None` when it has none.
    pub after: Option<String>,
}

/// A row of the audit log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    /// Its number; a later one was written later, give or take transactions of the same moment.
    pub number: u64,
    /// When.
    pub at: Timestamp,
    /// Who, with the request and its address.
    pub operator: ActingOperator,
    /// The operator's role at that moment, as it was stored.
    pub role: String,
    /// What: the name of the operation in the description of the API.
    pub action: String,
    /// Whether it was accepted, as it was stored.
    pub outcome: String,
    /// The record, as paths name it.
    pub record: String,
    /// On whose behalf, if it is one company's record.
    pub company: Option<CompanyId>,
    /// The settings that changed.
    pub changes: Vec<Change>,
}

/// The filter of a list of rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// Only of the operator with this name.
    pub operator: Option<OperatorName>,
    /// Only this action.
    pub action: Option<String>,
    /// Only about this record.
    pub record: Option<String>,
    /// Only on behalf of this company.
    pub company: Option<CompanyId>,
    /// Only from this moment on.
    pub from: Option<Timestamp>,
    /// Only before this moment.
    pub until: Option<Timestamp>,
}

/// The outcome of an attempt to seal rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sealing {
    /// No row waits, or another instance sealed at the same moment; with the newest seal.
    Nothing(Option<SealMark>),
    /// These rows have this seal now.
    Sealed {
        /// The new seal.
        seal: SealMark,
        /// The number of its rows.
        rows: usize,
    },
    /// Nothing was sealed: the chain is not the one that was known.
    Broken {
        /// The seal that is missing or another one, or whose rows are not those that it covers.
        number: i64,
    },
}

/// The audit log. Commits and the other writes of a request leave its row themselves.
#[async_trait]
pub trait AuditLog: Send + Sync {
    /// Leaves the row of a request that no write has left, in a transaction of its own.
    async fn leave_row(
        &self,
        request: Arc<AuditedRequest>,
        outcome: AuditOutcome,
    ) -> Result<(), Unavailable>;

    /// Seals the oldest rows that have no seal, 500 at most. A row that is committed late belongs to a
    /// later seal.
    ///
    /// Nothing is sealed unless the chain has the seal `known`, and its newest one covers its rows: rows
    /// that were written anew must not get a seal of ours.
    async fn seal(&self, now: Timestamp, known: Option<SealMark>) -> Result<Sealing, Unavailable>;

    /// The rows, newest first.
    async fn audit_log(
        &self,
        filter: AuditFilter,
        page: PageRequest,
    ) -> Result<Page<AuditEntry>, Unavailable>;
}
