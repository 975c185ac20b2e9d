//! The status of an operation.

use super::text_enum::text_enum;

text_enum! {
    /// The status of an operation.
    /// [Contract, "States and transitions"](https://example.com/preauth/blob/main/docs/reference.md#states-and-transitions);
    /// the same nine values appear in
    /// answers, in the list filter and in webhooks.
    #[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
    pub enum Status, "status" {
        /// Offered to the supplier, which has not answered yet.
        InPreAuth => "IN_PRE_AUTH",
        /// A direct advance whose invoice the platform verifies.
        InVerification => "IN_VERIFICATION",
        /// Requested by the supplier; the construction company is to approve it.
        ToApprove => "TO_APPROVE",
        /// Approved by the construction company; the platform analyses it.
        InAnalysis => "IN_ANALYSIS",
        /// Released; the supplier is to be paid.
        ToPay => "TO_PAY",
        /// The supplier is paid; the boleto is to be issued.
        ToBill => "TO_BILL",
        /// The boleto is issued; its payment is awaited.
        ToReceive => "TO_RECEIVE",
        /// Paid in full; final.
        Concluded => "CONCLUDED",
        /// Closed before payment, for any reason.
        Reproved => "REPROVED",
    }
}

impl Status {
    /// Whether an operation in this status blocks a second operation on the same invoice
    /// ([contract, "States and transitions"](https://example.com/preauth/blob/main/docs/reference.md#states-and-transitions)):
    /// every status but REPROVED and CONCLUDED.
    #[must_use]
    pub const fn is_in_progress(self) -> bool {
        match self {
            Self::InPreAuth
            | Self::InVerification
            | Self::ToApprove
            | Self::InAnalysis
            | Self::ToPay
            | Self::ToBill
            | Self::ToReceive => true,
            Self::Concluded | Self::Reproved => false,
        }
    }
}
