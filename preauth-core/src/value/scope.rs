//! The scopes of API keys.

use super::EnumSet;
use super::text_enum::text_enum;

text_enum! {
    /// A scope of an API key: the calls that it may be used for.
    /// [Contract, "Authentication"](https://example.com/preauth/blob/main/docs/reference.md#authentication)
    /// item 4.
    #[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
    pub enum Scope, "scope" {
        /// List and get operations.
        PreauthRead => "preauth:read",
        /// Create and cancel pre-authorizations.
        PreauthWrite => "preauth:write",
        /// No longer given to new keys. Keys that have it keep it, but it permits no operation of this
        /// API.
        NotesRead => "notes:read",
    }
}

impl Scope {
    /// The scopes a new key can be given.
    pub const OFFERED: &'static [Self] = &[Self::PreauthRead, Self::PreauthWrite];
}

/// The scopes of one API key.
pub type ScopeSet = EnumSet<Scope>;
