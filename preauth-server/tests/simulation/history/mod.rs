//! What happened in a run, in order: what the checker reads, and what a failure prints.

mod lines;

use std::sync::{Arc, Mutex};

use chrono::TimeDelta;
use preauth_core::audit;
use preauth_core::operation::{Action, Operation};
use preauth_core::payment_order::{OrderAction, PaymentOrder};
use preauth_core::port::{Commit, EventRecord, NewDelivery, Verdict, Write};
use preauth_core::value::{
    CompanyId, DeliveryId, EndpointId, EventId, EventType, IdempotencyKey, OperationId,
    PaymentOrderId, Timestamp,
};
use preauth_server::clock::Clock;

use crate::actors::Creation;
use crate::clock::SimClock;
use crate::faults::{Call, Fault};

/// Something that happened.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) at: Timestamp,
    pub(crate) fact: Fact,
}

/// What happened.
#[derive(Clone, Debug)]
pub(crate) enum Fact {
    /// A caller has the outcome of its offer, which it made `at` that moment.
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
    /// A caller has the outcome of something it asked of payment orders: of this one, or of a new
    /// one.
    Ordered {
        order: Option<PaymentOrderId>,
        action: OrderAction,
        at: Timestamp,
        answer: CommandAnswer,
    },
    /// The platform has the outcome of an invoice that it received.
    Invoiced {
        at: Timestamp,
        answer: CommandAnswer,
    },
    /// A caller has the outcome of something that the platform creates under a key.
    Keyed {
        creation: Creation,
        answer: OfferAnswer,
    },
    /// An id of this kind was given out.
    Reserved(&'static str, i64),
    /// A standby became the primary.
    Promoted,
    /// A commit met the end of its connection to the old primary, and was not done.
    CutOff {
        instance: usize,
    },
    /// A commit whose answer was lost came to its end later, and was applied or not.
    LandedLate {
        event_type: EventType,
        is_applied: bool,
    },
    /// A commit of an operation was applied.
    Committed(Box<Recorded>),
    /// A commit of a payment order was applied.
    CommittedOrder(Box<RecordedOrder>),
    /// A commit of an event that no aggregate is behind was applied, of this head office.
    Announced(CompanyId, Box<EventRecord>),
    Claimed {
        instance: usize,
        delivery: DeliveryId,
        token: i64,
        event: EventId,
        endpoint: EndpointId,
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
        /// The text of its type, as its header names it.
        event_type: String,
        body: String,
        /// Why its receiver would not have it: the signature or the address is not right.
        objection: Option<String>,
        /// Whether the receiver keeps the event.
        is_taken: bool,
    },
    Paused(EndpointId),
    Resumed(EndpointId),
    Resent(DeliveryId),
    /// An endpoint has a new secret; the others end then.
    Rotated(EndpointId, Timestamp),
    /// An endpoint has a new address.
    Moved(EndpointId),
    Started(usize),
    Stopped(usize),
    Killed(usize),
    Faulted {
        instance: usize,
        call: Call,
        fault: Fault,
    },
    Jumped(TimeDelta),
    /// The clock of one machine was set that far ahead of the database's.
    ClockSet {
        instance: usize,
        ahead: TimeDelta,
    },
    /// From here on nothing goes wrong any more.
    Quiet,
    /// From here on callers only ask for what they know.
    LastQuestions,
    /// The auditor begins to read, while others go on.
    AuditBegun,
    /// It has read everything.
    AuditEnded,
    /// It found that a rule does not hold.
    Alarmed(Box<audit::Violation>),
    /// Something that must never happen, seen while it happened.
    Broken(String),
}

/// The outcome of an offer, as its caller learns it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OfferAnswer {
    Created(String),
    Replayed(String),
    Duplicate(OperationId),
    Refused(String),
    InProgress,
    NotDone,
    Unknown,
    /// No answer came: the instance died, or took too long.
    Lost,
}

/// The outcome of a command, as its caller learns it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CommandAnswer {
    Done,
    /// It was so already.
    Unchanged,
    Refused(String),
    NotDone,
    Unknown,
    Lost,
}

/// A commit of an operation, as the service meant it.
#[derive(Clone, Debug)]
pub(crate) struct Recorded {
    pub(crate) operation: Operation,
    pub(crate) event: EventRecord,
    pub(crate) deliveries: Vec<NewDelivery>,
    pub(crate) key: Option<IdempotencyKey>,
    /// Whether a mail is staged with it.
    pub(crate) is_told: bool,
}

/// A commit of a payment order, as the service meant it.
#[derive(Clone, Debug)]
pub(crate) struct RecordedOrder {
    pub(crate) order: PaymentOrder,
    pub(crate) event: EventRecord,
    pub(crate) key: Option<IdempotencyKey>,
}

impl Fact {
    /// What is to be noted of a commit once it is applied.
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
                    is_told: commit.notice.is_some(),
                }))
            }
            Write::NewOrder { order, .. } | Write::Order(order) => {
                let order = PaymentOrder::clone(order);
                Self::CommittedOrder(Box::new(RecordedOrder { order, event, key }))
            }
            Write::NewInvoice(_) | Write::EventOnly { .. } => {
                let head_office = commit.write.head_office();
                Self::Announced(head_office, Box::new(event))
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

    /// Whether asking again would be pointless.
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

/// A number that is the same for equal histories and hardly ever for others.
pub(crate) fn hash_of(entries: &[Entry]) -> u64 {
    let mut hash = 0xCBF2_9CE4_8422_2325_u64;
    for entry in entries {
        for byte in entry.to_string().bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
        }
    }
    hash
}
