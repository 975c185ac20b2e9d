//! The facts of a run, in order: the input of the checker, and the output of a failure.

mod deed;
mod lines;
mod mails;

use std::sync::{Arc, Mutex};

use chrono::TimeDelta;
use preauth_core::audit;
use preauth_core::operation::{Action, Operation};
use preauth_core::payment_order::{OrderAction, PaymentOrder};
use preauth_core::port::{Commit, EventRecord, NewDelivery, NewMail, Verdict, Write};
use preauth_core::value::{
    CompanyId, DeliveryId, EndpointId, EventId, IdempotencyKey, OperationId, PaymentOrderId,
    Timestamp,
};
use preauth_server::clock::Clock;

use crate::actors::Creation;
use crate::clock::SimClock;
use crate::faults::{Call, Fault};
use crate::ground::NewRecord;

pub(crate) use deed::Deed;
pub(crate) use mails::MailFact;

/// A fact with its time.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) at: Timestamp,
    pub(crate) fact: Fact,
}

/// A fact.
#[derive(Clone, Debug)]
pub(crate) enum Fact {
    /// A caller has the outcome of the offer that it requested at this time.
    Offered {
        key: Option<IdempotencyKey>,
        invoice: usize,
        at: Timestamp,
        answer: OfferAnswer,
    },
    /// A supplier has the outcome of its direct advance.
    Advanced {
        invoice: Option<usize>,
        at: Timestamp,
        answer: OfferAnswer,
    },
    /// A caller has the outcome of a command.
    CommandOutcome {
        operation: OperationId,
        action: Action,
        at: Timestamp,
        answer: CommandAnswer,
    },
    /// A caller has the outcome of a request about payment orders: an existing or a new one.
    Ordered {
        order: Option<PaymentOrderId>,
        action: OrderAction,
        at: Timestamp,
        answer: CommandAnswer,
    },
    /// The platform has the outcome of a received invoice.
    Invoiced {
        at: Timestamp,
        answer: CommandAnswer,
    },
    /// The platform has the outcome of a test event, or of a create of the directory.
    Made {
        deed: Deed,
        at: Timestamp,
        answer: CommandAnswer,
    },
    /// A caller has the outcome of a platform create under a key.
    Keyed {
        creation: Creation,
        answer: OfferAnswer,
    },
    /// An id of this kind was reserved.
    Reserved(&'static str, i64),
    /// A standby was promoted.
    Promoted,
    /// A commit lost its connection to the old primary, and was not done.
    CutOff {
        instance: usize,
    },
    /// A commit whose answer was lost completed later: it was applied or not.
    LandedLate {
        deed: Deed,
        is_applied: bool,
    },
    /// A commit of an operation was applied.
    Committed(Box<Recorded>),
    /// A commit of a payment order was applied.
    CommittedOrder(Box<RecordedOrder>),
    /// A commit of an event without an aggregate was applied.
    Announced(Box<RecordedEvent>),
    /// A record of the directory was created.
    Registered(Box<RecordedEntry>),
    Claimed {
        instance: usize,
        delivery: DeliveryId,
        token: i64,
        event: EventId,
        endpoint: EndpointId,
    },
    /// A delivery under a lease reached the dispatcher of its commit's instance, or was lost on the
    /// way.
    HandedOver {
        instance: usize,
        endpoint: EndpointId,
        delivery: DeliveryId,
        is_lost: bool,
    },
    /// A commit found room for a delivery in the dispatcher of its process.
    FoundRoom {
        process: u64,
        endpoint: EndpointId,
    },
    /// A commit found no room for a delivery in the dispatcher of its process, or was to find none.
    FoundNoRoom {
        process: u64,
        endpoint: EndpointId,
        is_planned: bool,
    },
    /// The dispatcher of a process has the result of a search.
    Searched {
        process: u64,
    },
    Finished {
        instance: usize,
        delivery: DeliveryId,
        token: i64,
        verdict: Verdict,
        is_recorded: bool,
    },
    Released {
        delivery: DeliveryId,
    },
    /// A request reached a receiver.
    Received {
        endpoint: EndpointId,
        event: EventId,
        /// The event type in the header.
        event_type: String,
        body: String,
        /// The receiver's objection: a wrong signature or address.
        objection: Option<String>,
        /// Whether the receiver accepted the event.
        is_taken: bool,
    },
    Mail(MailFact),
    /// A reader got an event on request.
    Read {
        company: CompanyId,
        event: EventId,
        body: String,
    },
    Paused(EndpointId),
    Resumed(EndpointId),
    Resent(DeliveryId),
    /// An endpoint has a new secret; the others end at this time.
    Rotated(EndpointId, Timestamp),
    /// An endpoint has a new address.
    Moved(EndpointId),
    Started(usize),
    Stopped(usize),
    Killed(usize),
    /// The dispatcher of an instance takes what commits hand over, and does nothing.
    Muted(usize),
    /// The dispatcher of an instance has ended, and its service goes on.
    DispatcherEnded(usize),
    Faulted {
        instance: usize,
        call: Call,
        fault: Fault,
    },
    Jumped(TimeDelta),
    /// The leases of the database are as old as the clocks after a jump.
    LeasesAdvanced,
    /// A delivery is leased or due until this much later, as after a clock that was ahead.
    LeftAhead(TimeDelta),
    /// The clock of one machine was set ahead of the database's by this much.
    ClockSet {
        instance: usize,
        ahead: TimeDelta,
    },
    /// From here on no faults occur.
    Quiet,
    /// From here on callers only repeat known requests.
    LastQuestions,
    /// The auditor starts to read while others work.
    AuditBegun,
    /// The auditor has read all records.
    AuditEnded,
    /// The auditor found a violated rule.
    Alarmed(Box<audit::Violation>),
    /// An impossible state, observed during the run.
    Broken(String),
}

/// The outcome of an offer, as its caller sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OfferAnswer {
    Created(String),
    Replayed(String),
    Duplicate(OperationId),
    Refused(String),
    InProgress,
    NotDone,
    Unknown,
    /// No answer: the instance died, or took too long.
    Lost,
}

/// The outcome of a command, as its caller sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CommandAnswer {
    Done,
    /// Nothing to change: it was done before.
    Unchanged,
    Refused(String),
    NotDone,
    Unknown,
    Lost,
}

/// A commit of an operation, as the service requested it.
#[derive(Clone, Debug)]
pub(crate) struct Recorded {
    pub(crate) operation: Operation,
    pub(crate) event: EventRecord,
    pub(crate) deliveries: Vec<NewDelivery>,
    pub(crate) key: Option<IdempotencyKey>,
    /// The mail that is staged with it.
    pub(crate) mail: Option<NewMail>,
}

/// A commit of a payment order, as the service requested it.
#[derive(Clone, Debug)]
pub(crate) struct RecordedOrder {
    pub(crate) order: PaymentOrder,
    pub(crate) event: EventRecord,
    pub(crate) key: Option<IdempotencyKey>,
}

/// A commit of an event without an aggregate, as the service requested it.
#[derive(Clone, Debug)]
pub(crate) struct RecordedEvent {
    pub(crate) head_office: CompanyId,
    pub(crate) event: EventRecord,
    pub(crate) key: Option<IdempotencyKey>,
}

/// A record of the directory, as the platform requested it.
#[derive(Clone, Debug)]
pub(crate) struct RecordedEntry {
    pub(crate) deed: Deed,
    pub(crate) id: String,
    pub(crate) at: Timestamp,
    pub(crate) key: Option<IdempotencyKey>,
}

impl Fact {
    /// The fact to record once a record of the directory is created.
    pub(crate) fn registered(new: &NewRecord) -> Self {
        Self::Registered(Box::new(RecordedEntry {
            deed: Deed::of_record(&new.record),
            id: new.record.id(),
            at: new.record.created_at(),
            key: new.reply.as_ref().map(|reply| reply.key.clone()),
        }))
    }

    /// The fact to record once a commit is applied.
    pub(crate) fn committed(commit: &Commit) -> Self {
        let event = commit.event.clone();
        let key = commit.reply.as_ref().map(|reply| reply.key.clone());
        match &commit.write {
            Write::NewOperation(operation) | Write::Operation { operation, .. } => {
                Self::Committed(Box::new(Recorded {
                    operation: Operation::clone(operation),
                    event,
                    deliveries: commit.deliveries.clone(),
                    key,
                    mail: commit.mail.clone(),
                }))
            }
            Write::NewOrder { order, .. } | Write::Order(order) => {
                let order = PaymentOrder::clone(order);
                Self::CommittedOrder(Box::new(RecordedOrder { order, event, key }))
            }
            Write::NewInvoice(_) | Write::EventOnly { .. } => {
                let head_office = commit.write.head_office();
                Self::Announced(Box::new(RecordedEvent {
                    head_office,
                    event,
                    key,
                }))
            }
        }
    }
}

impl OfferAnswer {
    /// The body of a 201.
    pub(crate) fn body(&self) -> Option<&str> {
        match self {
            Self::Created(body) | Self::Replayed(body) => Some(body),
            Self::Duplicate(_)
            | Self::Refused(_)
            | Self::InProgress
            | Self::NotDone
            | Self::Unknown
            | Self::Lost => None,
        }
    }

    /// Whether a retry would be pointless.
    pub(crate) fn is_definite(&self) -> bool {
        !matches!(
            self,
            Self::InProgress | Self::NotDone | Self::Unknown | Self::Lost
        )
    }
}

/// The history while it is written.
#[derive(Clone, Debug)]
pub(crate) struct Chronicle {
    clock: Arc<SimClock>,
    entries: Arc<Mutex<Vec<Entry>>>,
}

impl Chronicle {
    pub(crate) fn new(clock: Arc<SimClock>) -> Self {
        Self {
            clock,
            entries: Arc::default(),
        }
    }

    pub(crate) fn note(&self, fact: Fact) {
        let at = self.clock.now();
        self.entries.lock().unwrap().push(Entry { at, fact });
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(crate) fn read<T>(&self, read: impl FnOnce(&[Entry]) -> T) -> T {
        read(&self.entries.lock().unwrap())
    }

    pub(crate) fn take(&self) -> Vec<Entry> {
        std::mem::take(&mut self.entries.lock().unwrap())
    }
}

/// A hash of a history.
pub(crate) fn hash_of(entries: &[Entry]) -> u64 {
    let mut hash = 0xCBF2_9CE4_8422_2325_u64;
    for entry in entries {
        for byte in entry.to_string().bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
        }
    }
    hash
}
