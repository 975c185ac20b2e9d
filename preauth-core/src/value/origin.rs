//! How an operation came about.

use super::text_enum::text_enum;

text_enum! {
    /// How an operation came about.
    /// [Contract, "Webhook data"](https://example.com/preauth/blob/main/docs/reference.md#webhook-data-of-pre_authorization-and-anticipation-events)
    /// (`origin`).
    #[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
    pub enum Origin, "origin" {
        /// Created from a pre-authorization.
        PreAuth => "PRE_AUTH",
        /// Advanced directly by the supplier.
        Direct => "DIRECT",
    }
}
