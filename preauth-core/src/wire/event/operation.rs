//! Events of operations.

use serde::{Deserialize, Serialize};

use super::EventInvoice;
use crate::value::{DueDate, ExtensionId, OperationId, Origin, Stage, Status};
use crate::wire::{Amount, Open, Party, SupplierParty, number, text};

/// The data of `pre_authorization.*` and `anticipation.*` events.
///
/// Contract, "Webhook data of `pre_authorization.*` and `anticipation.*` events". Everything but
/// `extension` is always written, with `null` where there is nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OperationEventData {
    /// The `id` of the operation.
    #[serde(with = "number")]
    pub anticipation_id: OperationId,
    /// Where it stands after the event.
    pub status: Open<Status>,
    /// Offered by the company, or advanced directly by the supplier.
    pub origin: Open<Origin>,
    /// What is advanced.
    pub invoice: EventInvoice,
    /// Net amount to the supplier, once it is calculated.
    #[serde(default)]
    pub net_amount: Option<Amount>,
    /// The construction company.
    pub payer: Party,
    /// Who receives the advance.
    pub supplier: SupplierParty,
    /// The caller's own identifier.
    #[serde(default)]
    pub external_reference: Option<String>,
    /// Why it was closed, if this event closed it.
    #[serde(default)]
    pub reason: Option<String>,
    /// At which stage it was closed, if this event closed it.
    #[serde(default)]
    pub stage: Option<Open<Stage>>,
    /// The extension; in `anticipation.extension_*` events only, and left out of all others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extension: Option<ExtensionData>,
}

/// The extension of a boleto.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExtensionData {
    /// Its number.
    #[serde(with = "number")]
    pub id: ExtensionId,
    /// The new due date of the boleto.
    #[serde(with = "text")]
    pub new_due_date: DueDate,
    /// Total of the extended boleto.
    pub total_amount: Amount,
}
