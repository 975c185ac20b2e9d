//! Who takes a mail: a folder, or a mail server.

mod folder;
mod smtp;

use async_trait::async_trait;
use thiserror::Error;

use super::letterhead::Mail;

pub use folder::Folder;
pub use smtp::{SmtpRelay, TransportError};

/// Hands mails over, one at a time; called for several at once.
#[async_trait]
pub trait Transport: Send + Sync {
    /// Hands a mail over; gives where it is now, for the log. Always comes to an end, in time.
    async fn hand_over(&self, mail: &Mail) -> Result<String, NotTaken>;
}

/// Why a mail was not taken.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NotTaken {
    /// This mail, or its address, is refused for good.
    #[error("refused: {0}")]
    Refused(Reason),
    /// This mail is not taken now.
    #[error("not taken yet: {0}")]
    NotYet(Reason),
    /// No mail can be handed over: it is not about this one.
    #[error("no mail can be handed over: {0}")]
    Nobody(Reason),
}

/// Why, for the record of the mail, and without a mail server's words for the log: these may name
/// addresses.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{recorded}")]
pub struct Reason {
    /// What operators read at the mail.
    pub recorded: String,
    /// What is logged.
    pub logged: String,
}

impl NotTaken {
    /// What is logged of it.
    #[must_use]
    pub fn logged(&self) -> String {
        match self {
            Self::Refused(reason) => format!("refused: {}", reason.logged),
            Self::NotYet(reason) => format!("not taken yet: {}", reason.logged),
            Self::Nobody(reason) => format!("no mail can be handed over: {}", reason.logged),
        }
    }
}

/// Words of our own, which name no address.
impl From<String> for Reason {
    fn from(words: String) -> Self {
        Self {
            logged: words.clone(),
            recorded: words,
        }
    }
}

impl From<&str> for Reason {
    fn from(words: &str) -> Self {
        words.to_owned().into()
    }
}
