//! Events of payment orders.

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use crate::value::{OperationId, PaymentOrderId, PaymentOrderStatus};
use crate::wire::{Amount, Open, Party, SupplierParty, number, text};

/// The data of `payment_order.*` events. The contract does not define it; the shape is this project's.
/// Every field is always written; empty ones are `null`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub struct PaymentOrderEventData {
    /// The number of the order.
    #[serde(with = "number")]
    pub payment_order_id: PaymentOrderId,
    /// Its status after the event.
    pub status: Open<PaymentOrderStatus>,
    /// The amount to be paid.
    pub amount: Amount,
    /// The scheduled day of payment, once it is known.
    #[serde(with = "text::optional", default)]
    pub scheduled_for: Option<NaiveDate>,
    /// The operation it belongs to, if any.
    #[serde(with = "number::optional", default)]
    pub anticipation_id: Option<OperationId>,
    /// The construction company that pays.
    pub payer: Party,
    /// The supplier that is paid.
    pub supplier: SupplierParty,
    /// The reason why it was cancelled or reproved.
    #[serde(default)]
    pub reason: Option<String>,
}

impl PaymentOrderEventData {
    /// The data of an event whose nullable fields are `None`.
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
