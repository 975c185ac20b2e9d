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
    Refused(String),
    /// This mail is not taken now.
    #[error("not taken yet: {0}")]
    NotYet(String),
    /// No mail can be handed over: it is not about this one.
    #[error("no mail can be handed over: {0}")]
    Nobody(String),
}
