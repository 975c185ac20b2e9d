//! The transports of mails: a folder, or a mail server.

mod folder;
mod smtp;

use async_trait::async_trait;
use thiserror::Error;

use super::letterhead::OutgoingMail;

pub use folder::Folder;
pub(crate) use smtp::{PHRASES, Phrase};
pub use smtp::{SmtpLogin, SmtpRelay, SmtpSettings, SmtpTls, TransportError};

/// Sends mails, one per call; calls may be concurrent.
#[async_trait]
pub trait Transport: Send + Sync {
    /// Sends a mail and returns its new location, for the log. Always returns within a bounded
    /// time.
    async fn hand_over(&self, mail: &OutgoingMail) -> Result<String, NotTaken>;
}

/// Why a mail was not accepted.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NotTaken {
    /// This mail, or its address, is refused permanently.
    #[error("refused: {0}")]
    Refused(Reason),
    /// This mail is not accepted now.
    #[error("not taken yet: {0}")]
    NotYet(Reason),
    /// No mail can be sent; the failure does not depend on this one.
    #[error("no mail can be handed over: {0}")]
    Nobody(Reason),
}

/// The reason in two forms: for the record of the mail, and for the log without a mail server's
/// text, which may contain addresses.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{recorded}")]
pub struct Reason {
    /// The recorded text, for operators.
    pub recorded: String,
    /// The logged text.
    pub logged: String,
}

impl NotTaken {
    /// The logged text of the reason.
    #[must_use]
    pub fn logged(&self) -> String {
        match self {
            Self::Refused(reason) => format!("refused: {}", reason.logged),
            Self::NotYet(reason) => format!("not taken yet: {}", reason.logged),
            Self::Nobody(reason) => format!("no mail can be handed over: {}", reason.logged),
        }
    }
}

/// For texts of this server, which contain no address.
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
