//! Invoices in events.

use serde::{Deserialize, Serialize};

use crate::value::{DueDate, InvoiceId};
use crate::wire::{Amount, Party, SupplierParty, number, text};

/// An invoice, as it appears in events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub struct EventInvoice {
    /// Gross amount.
    pub amount: Amount,
    /// When the company pays it.
    #[serde(with = "text")]
    pub due_date: DueDate,
    /// Its number, if it has one.
    #[serde(default)]
    pub number: Option<String>,
}

/// The data of `invoice.received`. The contract does not define it; the shape is this project's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub struct InvoiceReceivedData {
    /// The number of the invoice on the platform.
    #[serde(with = "number")]
    pub invoice_id: InvoiceId,
    /// The invoice.
    pub invoice: EventInvoice,
    /// The company that is to pay it.
    pub payer: Party,
    /// The supplier that issued it.
    pub supplier: SupplierParty,
}

impl EventInvoice {
    /// An invoice without a number.
    #[must_use]
    pub const fn new(amount: Amount, due_date: DueDate) -> Self {
        Self {
            amount,
            due_date,
            number: None,
        }
    }
}

impl InvoiceReceivedData {
    /// The data of the event.
    #[must_use]
    pub const fn new(
        invoice_id: InvoiceId,
        invoice: EventInvoice,
        payer: Party,
        supplier: SupplierParty,
    ) -> Self {
        Self {
            invoice_id,
            invoice,
            payer,
            supplier,
        }
    }
}
