//! An invoice that a supplier issued and the platform received: a record that never changes.

use crate::operation::{Party, Payer};
use crate::value::{DueDate, InvoiceId, InvoiceNumber, Money, Timestamp};

/// An invoice as the platform received it. It never changes; an operation on the invoice is a separate
/// record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedInvoice {
    /// The `invoiceId` of webhooks.
    pub id: InvoiceId,
    /// The company that is to pay it, head office or branch.
    pub payer: Payer,
    /// The supplier that issued it.
    pub supplier: Party,
    /// Gross amount, above zero.
    pub amount: Money,
    /// When it is to be paid.
    pub due_date: DueDate,
    /// Its number.
    pub number: InvoiceNumber,
    /// When the platform received it.
    pub received_at: Timestamp,
}
