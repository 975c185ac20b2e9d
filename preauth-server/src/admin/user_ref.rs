//! A user on the command line: by id, or by e-mail address, which is unique per company.

use preauth_core::value::{Email, EmailError, UserId};
use thiserror::Error;

/// A reference to a user of a company.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum UserRef {
    /// The platform's own id.
    Id(UserId),
    /// The e-mail address, in any case.
    Email(Email),
}

/// Why a text is not a reference to a user.
#[derive(Debug, Error)]
#[error("neither a user's id nor an e-mail address: {0}")]
pub(crate) struct UserRefError(EmailError);

impl UserRef {
    /// Parses either form.
    pub(super) fn parse(text: &str) -> Result<Self, UserRefError> {
        if let Ok(id) = UserId::parse(text) {
            return Ok(Self::Id(id));
        }
        Email::parse(text).map(Self::Email).map_err(UserRefError)
    }
}
