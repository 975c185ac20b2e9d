//! At which stage an operation was closed.

use super::text_enum::text_enum;

text_enum! {
    /// At which stage an operation was closed.
    /// [Contract, "Webhook data"](https://example.com/preauth/blob/main/docs/reference.md#webhook-data-of-pre_authorization-and-anticipation-events)
    /// (`stage`).
    #[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
    pub enum Stage, "stage" {
        /// While it was an offer.
        PreAuth => "PRE_AUTH",
        /// While the construction company checked the supplier's request.
        Request => "REQUEST",
        /// By the platform or by expiry.
        System => "SYSTEM",
    }
}
