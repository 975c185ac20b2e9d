//! What a command would do to a payment order, and the only place where one changes.

use chrono::NaiveDate;
use thiserror::Error;

use crate::operation::Operation;
use crate::value::{Cnpj, CompanyId, PaymentOrderId, PaymentOrderStatus, Reason};

use super::{OrderAction, OtherOrder, PaymentOrder};

/// A request to change an existing payment order.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub enum OrderCommand {
    /// Take it under review.
    Review,
    /// Fix the day of payment.
    Schedule {
        /// The day; without one the order keeps the day it has.
        on: Option<NaiveDate>,
    },
    /// It was paid.
    Pay,
    /// Cancel it.
    Cancel {
        /// Why, if a reason is given.
        reason: Option<Reason>,
    },
    /// Reprove it.
    Reprove {
        /// Why, if a reason is given.
        reason: Option<Reason>,
    },
}

/// What happened to a payment order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderChange {
    /// What was done.
    pub action: OrderAction,
    /// The new day of payment, when it was scheduled with one.
    pub scheduled_for: Option<NaiveDate>,
    /// Why, when it was closed with a reason.
    pub reason: Option<Reason>,
}

/// Why a command on a payment order was refused. Nothing was changed.
#[derive(Clone, Copy, PartialEq, Eq, Error)]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub enum OrderRejection {
    /// There is no such order.
    #[error("no such payment order")]
    NotFound,
    /// The operation has an order that stands.
    #[error("payment order {existing} of the operation stands")]
    AlreadyOrdered {
        /// That order.
        existing: PaymentOrderId,
    },
    /// The table has no row for this action in this status.
    #[error("not possible while {status}")]
    InvalidTransition {
        /// The status it was checked against.
        status: PaymentOrderStatus,
    },
}

crate::explained::explained!(OrderRejection);

/// Decides whether an operation that has `others` may have another payment order: it has one at a
/// time, unless the payout was returned after that one was paid.
pub fn decide_new(others: &[OtherOrder]) -> Result<(), OrderRejection> {
    match others.iter().find(|order| order.stands()) {
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

/// Says what happens if `command` meets `order`; performs nothing.
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

/// Applies `change`, which [`decide`] made for this very order.
#[must_use]
pub fn evolve(order: &PaymentOrder, change: &OrderChange) -> PaymentOrder {
    let mut next = order.clone();
    next.version = order.version.next();
    next.status = change.action.transition().to;
    next.scheduled_for = change.scheduled_for.or(order.scheduled_for);
    next.reason.clone_from(&change.reason);
    next
}
