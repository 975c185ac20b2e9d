//! Decides commands on payment orders; the only place where an order changes.

use chrono::NaiveDate;
use thiserror::Error;

use crate::operation::Operation;
use crate::value::{Cnpj, CompanyId, PaymentOrderId, PaymentOrderStatus, Reason};

use super::{OrderAction, OtherOrder, PaymentOrder};

/// A request to change an existing payment order.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub enum OrderCommand {
    /// The order is put under review.
    Review,
    /// The day of payment is set.
    Schedule {
        /// The day; without one the order keeps the day it has.
        on: Option<NaiveDate>,
    },
    /// The order was paid.
    Pay,
    /// The order is cancelled.
    Cancel {
        /// Why, if a reason is given.
        reason: Option<Reason>,
    },
    /// The order is reproved.
    Reprove {
        /// Why, if a reason is given.
        reason: Option<Reason>,
    },
}

/// A change of a payment order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderChange {
    /// The action of this change.
    pub action: OrderAction,
    /// The new day of payment, if the order was scheduled with one.
    pub scheduled_for: Option<NaiveDate>,
    /// The reason, if the order was closed with one.
    pub reason: Option<Reason>,
}

/// Why a command on a payment order was refused. Nothing was changed.
#[derive(Clone, Copy, PartialEq, Eq, Error)]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub enum OrderRejection {
    /// There is no such order.
    #[error("no such payment order")]
    NotFound,
    /// The operation already has a payment order in force.
    #[error("payment order {existing} of the operation stands")]
    AlreadyOrdered {
        /// That order.
        existing: PaymentOrderId,
    },
    /// The table has no row for this action in this status.
    #[error("not possible while {status}")]
    InvalidTransition {
        /// The order's status at the decision.
        status: PaymentOrderStatus,
    },
}

crate::explained::explained!(OrderRejection);

/// Decides whether an operation that has `others` may have another payment order: an operation has one
/// order at a time, unless the payout was returned after that order was paid.
pub fn decide_new(others: &[OtherOrder]) -> Result<(), OrderRejection> {
    match others.iter().find(|order| order.is_in_force()) {
        None => Ok(()),
        Some(standing) => Err(OrderRejection::AlreadyOrdered {
            existing: standing.id,
        }),
    }
}

/// Whether a payment order from `payer` to `supplier` may belong to `operation`: it has the same two
/// companies.
#[must_use]
pub fn may_belong_to(operation: &Operation, payer: CompanyId, supplier: Cnpj) -> bool {
    operation.payer.company == payer && operation.supplier.cnpj == supplier
}

/// Decides a command against a payment order; has no side effects.
pub fn decide(order: &PaymentOrder, command: &OrderCommand) -> Result<OrderChange, OrderRejection> {
    let (action, scheduled_for, reason) = match command {
        OrderCommand::Review => (OrderAction::Review, None, None),
        OrderCommand::Schedule { on } => (OrderAction::Schedule, *on, None),
        OrderCommand::Pay => (OrderAction::Pay, None, None),
        OrderCommand::Cancel { reason } => (OrderAction::Cancel, None, reason.clone()),
        OrderCommand::Reprove { reason } => (OrderAction::Reprove, None, reason.clone()),
    };
    if !action.transition().from.contains(&order.status) {
        return Err(OrderRejection::InvalidTransition {
            status: order.status,
        });
    }
    Ok(OrderChange {
        action,
        scheduled_for,
        reason,
    })
}

/// Applies `change`, which [`decide`] returned for this order in this version.
#[must_use]
pub fn evolve(order: &PaymentOrder, change: &OrderChange) -> PaymentOrder {
    let mut next = order.clone();
    next.version = order.version.next();
    next.status = change.action.transition().to;
    next.scheduled_for = change.scheduled_for.or(order.scheduled_for);
    next.reason.clone_from(&change.reason);
    next
}
