//! Payment orders: a second, smaller aggregate with a table, a decide and an evolve of its own.
//!
//! The contract names their six events and shows no more; the life of an order is this project's
//! choice (`docs/decisions.md`).

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
    /// Whose order it is.
    pub payer: Payer,
    /// Who is paid.
    pub supplier: Party,
    /// How much, above zero.
    pub amount: Money,
    /// The day on which it is to be paid, once known.
    pub scheduled_for: Option<NaiveDate>,
    /// The operation it belongs to, if any.
    pub operation: Option<OperationId>,
    /// Where it stands.
    pub status: PaymentOrderStatus,
    /// Why it was cancelled or reproved.
    pub reason: Option<Reason>,
    /// When it was created.
    pub created_at: Timestamp,
}

/// An order of an operation that was neither canceled nor reproved, as far as another one depends
/// on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtherOrder {
    /// The order.
    pub id: PaymentOrderId,
    /// When the payout was first returned after this order was paid; none while it stands.
    pub returned_at: Option<Timestamp>,
}

impl OtherOrder {
    /// Whether it keeps the operation from having another.
    #[must_use]
    pub const fn stands(&self) -> bool {
        self.returned_at.is_none()
    }
}
