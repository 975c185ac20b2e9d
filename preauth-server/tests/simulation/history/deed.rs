//! The effect of a write.

use std::fmt;

use preauth_core::operation::{Action, Operation, State};
use preauth_core::payment_order::OrderAction;
use preauth_core::port::{Commit, Write};
use preauth_core::value::{EventType, Origin};

use crate::ground::Record;

/// A kind of write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Deed {
    Operation(Action),
    Order(OrderAction),
    Invoice,
    TestEvent,
    Company,
    ApiKey,
}

impl Deed {
    /// The kinds that the actors do.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        const OF_ORDERS: [OrderAction; 6] = [
            OrderAction::Create,
            OrderAction::Review,
            OrderAction::Schedule,
            OrderAction::Pay,
            OrderAction::Cancel,
            OrderAction::Reprove,
        ];
        let of_operations = Action::ALL.iter().copied().map(Self::Operation);
        let of_orders = OF_ORDERS.into_iter().map(Self::Order);
        let others = [Self::Invoice, Self::TestEvent, Self::Company, Self::ApiKey];
        of_operations.chain(of_orders).chain(others)
    }

    pub(crate) const fn of_record(record: &Record) -> Self {
        match record {
            Record::Company(_) => Self::Company,
            Record::ApiKey(..) => Self::ApiKey,
        }
    }

    pub(crate) fn of(commit: &Commit) -> Self {
        match &commit.write {
            Write::NewOperation(operation) | Write::Operation { operation, .. } => {
                Self::Operation(action(operation, commit.event.event_type))
            }
            Write::NewOrder { .. } => Self::Order(OrderAction::Create),
            Write::Order(_) => Self::Order(match commit.event.event_type {
                EventType::PaymentOrderUnderReview => OrderAction::Review,
                EventType::PaymentOrderScheduled => OrderAction::Schedule,
                EventType::PaymentOrderPaid => OrderAction::Pay,
                EventType::PaymentOrderCanceled => OrderAction::Cancel,
                EventType::PaymentOrderReproved => OrderAction::Reprove,
                other => unreachable!("no action on an order records {other}"),
            }),
            Write::NewInvoice(_) => Self::Invoice,
            Write::EventOnly { .. } => Self::TestEvent,
        }
    }
}

/// The action that led to this state of an operation. Those that close it stand in the state; of the others
/// only two record the same event.
fn action(operation: &Operation, event: EventType) -> Action {
    if let State::Reproved(closing) = &operation.state {
        return closing.action;
    }
    if event == EventType::AnticipationRequested && operation.origin == Origin::Direct {
        return Action::Verify;
    }
    let mut actions = Action::ALL.iter().copied();
    let records = |action: &Action| action.transition().event == event;
    actions.find(records).unwrap()
}

impl fmt::Display for Deed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Operation(action) => write!(f, "{action} of an operation"),
            Self::Order(action) => write!(f, "{action:?} of a payment order"),
            Self::Invoice => write!(f, "the receipt of an invoice"),
            Self::TestEvent => write!(f, "a test event"),
            Self::Company => write!(f, "the registration of a company"),
            Self::ApiKey => write!(f, "the create of a key"),
        }
    }
}
