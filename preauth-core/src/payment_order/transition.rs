//! The transition table of payment orders, as data.

use crate::value::{EventType, PaymentOrderStatus};

/// One row: `action` leads from any status of `from` to `to` and records `event`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrderTransition {
    /// The action.
    pub action: OrderAction,
    /// Statuses in which it is permitted; empty for the creation.
    pub from: &'static [PaymentOrderStatus],
    /// The status afterwards.
    pub to: PaymentOrderStatus,
    /// The one event recorded with it.
    pub event: EventType,
}

/// An action on a payment order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub enum OrderAction {
    /// The platform generates it.
    Create,
    /// It is put under review.
    Review,
    /// Its day of payment is set.
    Schedule,
    /// It is paid.
    Pay,
    /// It is cancelled.
    Cancel,
    /// It is reproved.
    Reprove,
}

use EventType as E;
use PaymentOrderStatus as S;

/// All permitted transitions, in the order of the actions.
pub const ORDER_TRANSITIONS: [OrderTransition; 6] = [
    row(OrderAction::Create, &[], S::Created, E::PaymentOrderCreated),
    row(
        OrderAction::Review,
        &[S::Created],
        S::UnderReview,
        E::PaymentOrderUnderReview,
    ),
    row(
        OrderAction::Schedule,
        &[S::Created, S::UnderReview],
        S::Scheduled,
        E::PaymentOrderScheduled,
    ),
    row(
        OrderAction::Pay,
        &[S::Scheduled],
        S::Paid,
        E::PaymentOrderPaid,
    ),
    row(
        OrderAction::Cancel,
        &[S::Created, S::UnderReview, S::Scheduled],
        S::Canceled,
        E::PaymentOrderCanceled,
    ),
    row(
        OrderAction::Reprove,
        &[S::Created, S::UnderReview],
        S::Reproved,
        E::PaymentOrderReproved,
    ),
];

impl OrderAction {
    /// The row of [`ORDER_TRANSITIONS`] for this action; there is exactly one.
    #[must_use]
    pub const fn transition(self) -> &'static OrderTransition {
        #[expect(
            clippy::indexing_slicing,
            reason = "the compiler compares rows and actions below"
        )]
        &ORDER_TRANSITIONS[self.row()]
    }

    #[expect(
        clippy::as_conversions,
        reason = "the position among the variants, from zero"
    )]
    const fn row(self) -> usize {
        self as usize
    }
}

// The rows are in the order of the actions; the last action has the last row.
#[expect(clippy::indexing_slicing, reason = "only the compiler runs it")]
const _: () = {
    assert!(ORDER_TRANSITIONS.len() == OrderAction::Reprove.row() + 1);
    let mut row = 0;
    while row < ORDER_TRANSITIONS.len() {
        assert!(ORDER_TRANSITIONS[row].action.row() == row);
        row += 1;
    }
};

const fn row(
    action: OrderAction,
    from: &'static [PaymentOrderStatus],
    to: PaymentOrderStatus,
    event: EventType,
) -> OrderTransition {
    OrderTransition {
        action,
        from,
        to,
        event,
    }
}
