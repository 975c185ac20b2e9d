//! The extension of a boleto: a record of its own, at most one open per operation.

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

/// Where an extension stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub enum ExtensionStatus {
    /// Requested; the operation can neither be concluded nor its payout returned.
    Open,
    /// Paid: the boleto was replaced.
    Concluded,
    /// Cancelled: the boleto stays as it was.
    Canceled,
}

impl ExtensionStatus {
    /// The text stored and shown by the platform.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "OPEN",
            Self::Concluded => "CONCLUDED",
            Self::Canceled => "CANCELED",
        }
    }

    /// Reads the text that [`ExtensionStatus::as_str`] gives.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let all = [Self::Open, Self::Concluded, Self::Canceled];
        all.into_iter().find(|status| status.as_str() == text)
    }
}
