//! Payment orders: a second, smaller aggregate with its own transition table, `decide` and `evolve`.
//!
//! The contract only names their six events; the life cycle of an order is this project's choice
//! (`docs/decisions.md`).

mod decide;
mod transition;

pub use decide::{
    OrderChange, OrderCommand, OrderRejection, decide, decide_new, evolve, may_belong_to,
};
pub use transition::{ORDER_TRANSITIONS, OrderAction, OrderTransition};

use chrono::NaiveDate;

use crate::operation::{Party, Payer};
use crate::value::{
    Money, OperationId, PaymentOrderId, PaymentOrderStatus, Reason, Timestamp, Version,
};

/// An order to pay a supplier, as the platform generated it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaymentOrder {
    /// The `paymentOrderId` of webhooks.
    pub id: PaymentOrderId,
    /// Increases by one with every event.
    pub version: Version,
    /// The company that pays.
    pub payer: Payer,
    /// Who is paid.
    pub supplier: Party,
    /// The amount, above zero.
    pub amount: Money,
    /// The day of payment, once known.
    pub scheduled_for: Option<NaiveDate>,
    /// The operation that it belongs to, if any.
    pub operation: Option<OperationId>,
    /// Its status.
    pub status: PaymentOrderStatus,
    /// Why it was cancelled or reproved.
    pub reason: Option<Reason>,
    /// When it was created.
    pub created_at: Timestamp,
}

/// A payment order that was neither canceled nor reproved, as far as the decision on another order of its
/// operation depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtherOrder {
    /// The order.
    pub id: PaymentOrderId,
    /// When the payout was first returned after this order was paid; `None` while the order is in force.
    pub returned_at: Option<Timestamp>,
}

impl OtherOrder {
    /// Whether the order is in force: the operation cannot have another one.
    #[must_use]
    pub const fn is_in_force(&self) -> bool {
        self.returned_at.is_none()
    }
}
