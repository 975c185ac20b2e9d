//! The read side: what is recorded, as it is recorded.

use async_trait::async_trait;

use crate::operation::{Actor, Operation};
use crate::value::{
    CompanyId, EventId, EventType, ExternalReference, OperationId, Status, Timestamp, Version,
};

use super::Unavailable;

/// Reads for answers; nothing read here decides anything.
#[async_trait]
pub trait Queries: Send + Sync {
    /// The operation, if it exists and `viewer` may see it.
    async fn find(&self, viewer: Viewer, id: OperationId)
    -> Result<Option<Operation>, Unavailable>;

    /// One page of the operations that `viewer` may see and `filter` lets pass, by id descending.
    async fn list(
        &self,
        viewer: Viewer,
        filter: &Filter,
        page: PageRequest,
    ) -> Result<OperationPage, Unavailable>;

    /// The events of an operation, oldest first.
    async fn history(&self, id: OperationId) -> Result<Vec<HistoryEntry>, Unavailable>;
}

/// Whose eyes see: an operation outside of them does not exist.
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

    /// How many entries stand before this page.
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
    /// How many there are on all pages together.
    pub total: u64,
}

/// One event of an operation, as its history shows it. A newer version may have recorded it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryEntry {
    /// The event.
    pub id: EventId,
    /// The operation's version after it.
    pub version: Version,
    /// What happened.
    pub event_type: Recorded<EventType>,
    /// When.
    pub at: Timestamp,
    /// Who did it.
    pub actor: Recorded<Actor>,
    /// The webhook body.
    pub body: String,
}

/// A member of a set that newer versions may extend, as a history recorded it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recorded<T> {
    /// A member that this version knows.
    Known(T),
    /// The name of one that only a newer version knows.
    Unknown(String),
}

impl<T> Recorded<T> {
    /// The member; `None` when this version does not know it.
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
