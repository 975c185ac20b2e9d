//! Events of payment orders.

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use crate::value::{OperationId, PaymentOrderId, PaymentOrderStatus};
use crate::wire::{Amount, Open, Party, SupplierParty, number, text};

/// The data of `payment_order.*` events. The contract does not show it; the shape is this project's.
/// Every field is always written, with `null` where there is nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub struct PaymentOrderEventData {
    /// The number of the order.
    #[serde(with = "number")]
    pub payment_order_id: PaymentOrderId,
    /// Where it stands after the event.
    pub status: Open<PaymentOrderStatus>,
    /// How much is to be paid.
    pub amount: Amount,
    /// The day on which it is to be paid, once it is known.
    #[serde(with = "text::optional", default)]
    pub scheduled_for: Option<NaiveDate>,
    /// The operation it belongs to, if any.
    #[serde(with = "number::optional", default)]
    pub anticipation_id: Option<OperationId>,
    /// Whose order it is.
    pub payer: Party,
    /// Who is paid.
    pub supplier: SupplierParty,
    /// Why it was cancelled or reproved.
    #[serde(default)]
    pub reason: Option<String>,
}

impl PaymentOrderEventData {
    /// The data of an event. Whatever may be `null` is `None`.
    #[must_use]
    pub fn new(
        payment_order_id: PaymentOrderId,
        status: impl Into<Open<PaymentOrderStatus>>,
        amount: Amount,
        payer: Party,
        supplier: SupplierParty,
    ) -> Self {
        Self {
            payment_order_id,
            status: status.into(),
            amount,
            scheduled_for: None,
            anticipation_id: None,
            payer,
            supplier,
            reason: None,
        }
    }
}
