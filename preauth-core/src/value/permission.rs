//! The permissions of a company's users.

use super::EnumSet;
use super::text_enum::text_enum;

text_enum! {
    /// A permission of a company's user. The responsible user of a key needs both permissions
    /// ([contract, "Authentication"](https://example.com/preauth/blob/main/docs/reference.md#authentication)
    /// item 2).
    #[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
    pub enum Permission, "permission" {
        /// Request advances.
        RequestAdvances => "REQUEST_ADVANCES",
        /// Offer advances to suppliers.
        PreAuthorizeAdvances => "PRE_AUTHORIZE_ADVANCES",
    }
}

/// The permissions of one user.
pub type PermissionSet = EnumSet<Permission>;
