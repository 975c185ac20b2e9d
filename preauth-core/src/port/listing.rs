//! The lists of events that head offices read on request, for audits.

use crate::value::{CompanyId, EventId, OperationId, PaymentOrderId, Version};

/// An event in a head office's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedEvent {
    /// The head office that reads the list.
    pub head_office: CompanyId,
    /// The number under which it reads the event.
    pub number: i64,
    /// The event, which exists.
    pub event: EventId,
    /// The record that the event reports, with its version after the event; `None` for an event of neither
    /// an operation nor a payment order.
    pub record: Option<(VersionedRecord, Version)>,
    /// Whether the head office is one of those that may read the event, or was when it was listed: the
    /// events of an invited supplier stay in its own list when it becomes a branch of another company.
    pub is_for_reader: bool,
    /// Whether the next version's event exists and must be in the list already.
    pub has_next: bool,
    /// The number up to which the head office's events were removed after their retention; 0 for none.
    pub removed_upto: i64,
}

/// The record of an event with a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum VersionedRecord {
    /// An operation.
    Operation(OperationId),
    /// A payment order.
    Order(PaymentOrderId),
}

/// The end of a head office's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListEnd {
    /// The head office.
    pub head_office: CompanyId,
    /// As in [`ListedEvent::removed_upto`].
    pub removed_upto: i64,
}

/// An event that must be in a head office's list, and is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnlistedEvent {
    /// The event.
    pub event: EventId,
    /// The head office.
    pub head_office: CompanyId,
}

/// Numbers that a host assigned to events of lists, and that are not there although their retention has not
/// ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MissingNumbers {
    /// The first one.
    pub first: i64,
    /// The last one.
    pub last: i64,
}

impl std::fmt::Display for VersionedRecord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Operation(id) => write!(f, "operation {id}"),
            Self::Order(id) => write!(f, "payment order {id}"),
        }
    }
}
