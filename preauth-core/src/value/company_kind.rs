//! The role of a company on the platform.

use super::text_enum::text_enum;

text_enum! {
    /// A company's role on the platform.
    #[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
    pub enum CompanyKind, "company kind" {
        /// A construction company: pays invoices, and may offer advances on them.
        Construction => "CONSTRUCTION",
        /// A supplier, which receives offers.
        Supplier => "SUPPLIER",
    }
}
