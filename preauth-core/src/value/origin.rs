//! How an operation came about.

use super::text_enum::text_enum;

text_enum! {
    /// How an operation came about. Contract, "Webhook data" (`origin`).
    #[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
    pub enum Origin, "origin" {
        /// Born from a pre-authorization.
        PreAuth => "PRE_AUTH",
        /// Advanced directly by the supplier.
        Direct => "DIRECT",
    }
}
