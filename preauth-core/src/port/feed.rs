//! Events on request, for companies whose systems nobody can reach from outside.

use async_trait::async_trait;

use crate::operation::Party;
use crate::value::{CompanyId, EventId, EventType, Family};

use super::{Commit, Unavailable, Viewer, Write};

/// The events of each head office, in an order that never changes.
///
/// A host numbers the events of a head office in the order in which their commits became visible. A number
/// is never given to an event while one before it may still be committed, so whoever has read up to a number
/// has missed nothing; and of one record the events come in the order of its versions.
#[async_trait]
pub trait EventFeed: Send + Sync {
    /// The events after `query.after`, oldest first.
    async fn events(&self, query: &FeedQuery) -> Result<FeedAnswer, Unavailable>;
}

/// Whose events are read, and which.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedQuery {
    /// The head office whose events they are.
    pub head_office: CompanyId,
    /// The company that reads: the head office, or a branch, which sees the records in which it is the
    /// payer or the supplier.
    pub company: CompanyId,
    /// Where the reader stopped; `None` for the oldest event that is kept.
    pub after: Option<FeedPlace>,
    /// One of these; empty means any.
    pub types: Vec<EventType>,
    /// Maximum number of events.
    pub limit: u32,
}

/// A place in the order of a head office's events: that of one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeedPlace {
    /// Its number; numbers rise, with gaps.
    pub number: i64,
    /// The event, by which a host recognizes a place that another history of the database assigned.
    pub event: EventId,
}

/// The answer to a reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FeedAnswer {
    /// The events.
    Page(FeedPage),
    /// An event after the place, which the reader may see, is not kept any more, or the place was assigned by
    /// a history that the database has lost.
    Expired,
}

/// Some events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedPage {
    /// Oldest first.
    pub events: Vec<FeedEvent>,
    /// Where to go on. It may lie after events that were passed over, because the reader did not ask for them.
    pub next: FeedPlace,
    /// Whether there are further events, of any type.
    pub has_more: bool,
}

/// An event as it is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedEvent {
    /// The `id` of the envelope.
    pub id: EventId,
    /// The envelope, as frozen by the commit.
    pub body: String,
}

/// A head office that may read an event, and the parties of the event's record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeedEntry {
    /// The head office.
    pub head_office: CompanyId,
    /// The payer, head office or branch.
    pub payer: CompanyId,
    /// The supplier.
    pub supplier: CompanyId,
}

impl FeedPlace {
    /// The place before the first event that a head office ever gets.
    pub const BEGINNING: Self = Self {
        number: 0,
        event: EventId::new(uuid::Uuid::nil()),
    };
}

impl FeedQuery {
    /// Whether the reader sees the event of an entry of its head office.
    #[must_use]
    pub fn sees(&self, entry: &FeedEntry) -> bool {
        match Viewer::of_company(self.company, self.head_office) {
            Viewer::Branch(branch) => entry.payer == branch || entry.supplier == branch,
            Viewer::HeadOffice(_) | Viewer::Platform => true,
        }
    }
}

impl Commit {
    /// The head offices that may read the commit's event, as for webhooks
    /// ([`recipients`](crate::delivery::recipients)), whether or not they have an endpoint. A test event is
    /// for an endpoint alone.
    #[must_use]
    pub fn feed_entries(&self) -> Vec<FeedEntry> {
        let (payer, supplier): (&Party, &Party) = match &self.write {
            Write::NewOperation(operation) | Write::Operation { operation, .. } => {
                (&operation.payer, &operation.supplier)
            }
            Write::NewOrder { order, .. } | Write::Order(order) => (&order.payer, &order.supplier),
            Write::NewInvoice(invoice) => (&invoice.payer, &invoice.supplier),
            Write::EventOnly { .. } => return Vec::new(),
        };
        let entry = |head_office| FeedEntry {
            head_office,
            payer: payer.company,
            supplier: supplier.company,
        };
        let is_shared = match self.event.event_type.family() {
            Family::PreAuthorization | Family::Anticipation => true,
            Family::Invoice | Family::PaymentOrder | Family::Webhook => false,
        };
        let mut entries = vec![entry(payer.head_office)];
        if is_shared && supplier.head_office != payer.head_office {
            entries.push(entry(supplier.head_office));
        }
        entries
    }
}
