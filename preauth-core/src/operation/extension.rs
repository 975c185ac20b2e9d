//! Extensions of a boleto: separate records, at most one of them open per operation.

use crate::text_enum;
use crate::value::{DueDate, ExtensionId, Money};

/// A requested, paid or cancelled extension of an operation's boleto.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extension {
    /// The `extension.id` of webhooks.
    pub id: ExtensionId,
    /// The boleto's due date once the extension is concluded.
    pub new_due_date: DueDate,
    /// Total of the extended boleto, above zero.
    pub total_amount: Money,
}

text_enum! {
    /// The status of an extension.
    #[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
    pub enum ExtensionStatus, "extension status" {
        /// Requested; the operation can neither be concluded nor its payout returned.
        Open => "OPEN",
        /// Paid: the boleto was replaced.
        Concluded => "CONCLUDED",
        /// Cancelled: the boleto stays as it was.
        Canceled => "CANCELED",
    }
}
