//! The status of a payment order.

use super::text_enum::text_enum;

text_enum! {
    /// The status of a payment order. The contract names the events of each step; the values are ours.
    #[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
    pub enum PaymentOrderStatus, "payment order status" {
        /// Generated.
        Created => "CREATED",
        /// Being reviewed.
        UnderReview => "UNDER_REVIEW",
        /// To be paid on a set day.
        Scheduled => "SCHEDULED",
        /// Paid; final.
        Paid => "PAID",
        /// Cancelled; final.
        Canceled => "CANCELED",
        /// Refused in review; final.
        Reproved => "REPROVED",
    }
}
