//! What an API key may be used for.

use super::EnumSet;
use super::text_enum::text_enum;

text_enum! {
    /// What an API key may be used for.
    /// [Contract, "Authentication"](https://example.com/preauth/blob/main/docs/reference.md#authentication)
    /// item 4.
    #[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
    pub enum Scope, "scope" {
        /// List and get operations.
        PreauthRead => "preauth:read",
        /// Create and cancel pre-authorizations.
        PreauthWrite => "preauth:write",
        /// No longer offered; kept by the keys that have it, and opens nothing here.
        NotesRead => "notes:read",
    }
}

impl Scope {
    /// The scopes a new key can be given.
    pub const OFFERED: &'static [Self] = &[Self::PreauthRead, Self::PreauthWrite];
}

/// The scopes of one API key.
pub type ScopeSet = EnumSet<Scope>;
