//! The read side: returns records as they are stored.

use async_trait::async_trait;

use crate::operation::{Actor, Operation};
use crate::value::{
    CompanyId, EventId, EventType, ExternalReference, OperationId, Status, Timestamp, Version,
};

use super::{ActingOperator, Unavailable};

/// Reads for API responses; no decision depends on them.
#[async_trait]
pub trait Queries: Send + Sync {
    /// The operation, if it exists and `viewer` may see it.
    async fn find(&self, viewer: Viewer, id: OperationId)
    -> Result<Option<Operation>, Unavailable>;

    /// One page of the operations that `viewer` may see and that match `filter`, by id descending.
    async fn list(
        &self,
        viewer: Viewer,
        filter: &Filter,
        page: PageRequest,
    ) -> Result<OperationPage, Unavailable>;

    /// The events of an operation, oldest first.
    async fn history(&self, id: OperationId) -> Result<Vec<HistoryEntry>, Unavailable>;
}

/// The party that reads; an operation that it may not see is treated as non-existent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Viewer {
    /// A head office: its own operations and those of its branches.
    HeadOffice(CompanyId),
    /// A branch: its own operations only.
    Branch(CompanyId),
    /// The platform: everything.
    Platform,
}

impl Viewer {
    /// The view of a company: a head office sees its branches as well, a branch itself alone.
    #[must_use]
    pub fn of_company(company: CompanyId, head_office: CompanyId) -> Self {
        if company == head_office {
            Self::HeadOffice(company)
        } else {
            Self::Branch(company)
        }
    }

    /// Whether this viewer may see `operation`.
    #[must_use]
    pub fn sees(self, operation: &Operation) -> bool {
        match self {
            Self::HeadOffice(company) => operation.payer.head_office == company,
            Self::Branch(company) => operation.payer.company == company,
            Self::Platform => true,
        }
    }
}

/// Which operations a list shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Exactly this reference.
    pub external_reference: Option<ExternalReference>,
    /// One of these; empty means any.
    pub statuses: Vec<Status>,
}

/// Which page of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRequest {
    /// From 1.
    pub page: u64,
    /// From 1 to [`MAX_LIMIT`](Self::MAX_LIMIT).
    pub limit: u32,
}

impl PageRequest {
    /// Maximum number of entries of a page.
    pub const MAX_LIMIT: u32 = 100;

    /// The number of entries before this page.
    #[must_use]
    pub const fn offset(self) -> u64 {
        // Widening a u32 is exact; `From` is not const.
        #[expect(clippy::as_conversions, reason = "u32 to u64 loses nothing")]
        self.page
            .saturating_sub(1)
            .saturating_mul(self.limit as u64)
    }
}

/// One page of operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationPage {
    /// By id descending.
    pub operations: Vec<Operation>,
    /// The number of operations on all pages together.
    pub total: u64,
}

/// One event of an operation's history. A newer version of the software may have recorded it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryEntry {
    /// The event.
    pub id: EventId,
    /// The operation's version after the event.
    pub version: Version,
    /// The event's type.
    pub event_type: Recorded<EventType>,
    /// When.
    pub at: Timestamp,
    /// The actor.
    pub actor: Recorded<Actor>,
    /// The webhook body.
    pub body: String,
    /// The operator who acted on behalf of the actor, if it was one.
    pub operator: Option<ActingOperator>,
}

/// A member of a set that newer versions of the software may extend, as a history recorded it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recorded<T> {
    /// A member that this version supports.
    Known(T),
    /// The name of a member that only a newer version supports.
    Unknown(String),
}

impl<T> Recorded<T> {
    /// The member; `None` when this version does not support it.
    #[must_use]
    pub const fn known(&self) -> Option<&T> {
        match self {
            Self::Known(member) => Some(member),
            Self::Unknown(_) => None,
        }
    }
}

impl<T> From<T> for Recorded<T> {
    fn from(member: T) -> Self {
        Self::Known(member)
    }
}

impl<T: PartialEq> PartialEq<T> for Recorded<T> {
    fn eq(&self, member: &T) -> bool {
        self.known() == Some(member)
    }
}
