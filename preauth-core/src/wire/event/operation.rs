//! Events of operations.

use serde::{Deserialize, Serialize};

use super::EventInvoice;
use crate::value::{DueDate, ExtensionId, OperationId, Origin, Stage, Status};
use crate::wire::{Amount, Open, Party, SupplierParty, number, text};

/// The data of `pre_authorization.*` and `anticipation.*` events.
///
/// [Contract, "Webhook data of `pre_authorization.*` and `anticipation.*` events"](https://example.com/preauth/blob/main/docs/reference.md#webhook-data-of-pre_authorization-and-anticipation-events).
/// Every field except `extension` is always written; empty ones are `null`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub struct OperationEventData {
    /// The `id` of the operation.
    #[serde(with = "number")]
    pub anticipation_id: OperationId,
    /// Its status after the event.
    pub status: Open<Status>,
    /// Offered by the company, or advanced directly by the supplier.
    pub origin: Open<Origin>,
    /// The invoice that is advanced.
    pub invoice: EventInvoice,
    /// Net amount to the supplier, once it is calculated.
    #[serde(default)]
    pub net_amount: Option<Amount>,
    /// The construction company.
    pub payer: Party,
    /// The supplier that receives the advance.
    pub supplier: SupplierParty,
    /// The caller's own identifier.
    #[serde(default)]
    pub external_reference: Option<String>,
    /// The reason why it was closed, if this event closed it.
    #[serde(default)]
    pub reason: Option<String>,
    /// The stage at which it was closed, if this event closed it.
    #[serde(default)]
    pub stage: Option<Open<Stage>>,
    /// The extension; only in `anticipation.extension_*` events, and omitted from all others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extension: Option<ExtensionData>,
}

/// The extension of a boleto.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub struct ExtensionData {
    /// Its number.
    #[serde(with = "number")]
    pub id: ExtensionId,
    /// The new due date of the boleto.
    #[serde(with = "text")]
    pub new_due_date: DueDate,
    /// The total amount of the extended boleto.
    pub total_amount: Amount,
}

impl OperationEventData {
    /// The data of an event that neither closes the operation nor extends its boleto. Nullable fields are
    /// `None`.
    #[must_use]
    pub fn new(
        anticipation_id: OperationId,
        status: impl Into<Open<Status>>,
        origin: impl Into<Open<Origin>>,
        invoice: EventInvoice,
        payer: Party,
        supplier: SupplierParty,
    ) -> Self {
        Self {
            anticipation_id,
            status: status.into(),
            origin: origin.into(),
            invoice,
            net_amount: None,
            payer,
            supplier,
            external_reference: None,
            reason: None,
            stage: None,
            extension: None,
        }
    }
}

impl ExtensionData {
    /// The extension, as it appears in its events.
    #[must_use]
    pub const fn new(id: ExtensionId, new_due_date: DueDate, total_amount: Amount) -> Self {
        Self {
            id,
            new_due_date,
            total_amount,
        }
    }
}
