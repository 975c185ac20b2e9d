//! A user on the command line: by id, or by the e-mail address that a company has once.

use preauth_core::value::{Email, EmailError, UserId};
use thiserror::Error;

/// Which user of a company is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum UserRef {
    /// The platform's own id.
    Id(UserId),
    /// The e-mail address, whatever its case.
    Email(Email),
}

/// Why a text names no user.
#[derive(Debug, Error)]
#[error("neither a user's id nor an e-mail address: {0}")]
pub(crate) struct UserRefError(EmailError);

impl UserRef {
    /// Reads either form.
    pub(super) fn parse(text: &str) -> Result<Self, UserRefError> {
        if let Ok(id) = UserId::parse(text) {
            return Ok(Self::Id(id));
        }
        Email::parse(text).map(Self::Email).map_err(UserRefError)
    }
}
