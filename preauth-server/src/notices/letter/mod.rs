//! What mails say, in Portuguese: a letter is a subject and blocks, written out as text and as HTML.

mod brazilian;
mod offer;
mod pause;
mod stranger;
mod written;

use preauth_core::port::NoticeKind;
use thiserror::Error;
use url::Url;

pub use pause::PausedEndpoint;

/// A mail's words, before they are written out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letter {
    subject: String,
    blocks: Vec<Block>,
}

/// A part of a letter, each written in its own way.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Block {
    Paragraph(String),
    /// Names and values, one below the other.
    Facts(Vec<(&'static str, String)>),
    /// A way to go on; its address comes from the configuration only.
    Link {
        label: &'static str,
        url: Url,
    },
    /// Small print.
    Note(String),
}

/// The content of a mail was not staged by this version, or one before it.
#[derive(Debug, Error)]
#[error("the staged content of the mail cannot be read")]
pub struct UnreadableContent(#[from] serde_json::Error);

impl Letter {
    /// The letter of a staged mail; `portal` is where its reader goes on, if that is known.
    pub fn of(
        kind: NoticeKind,
        content: &str,
        portal: Option<&Url>,
    ) -> Result<Self, UnreadableContent> {
        match kind {
            NoticeKind::Offer => offer::letter(content, offer::Reader::Registered, portal),
            NoticeKind::Invitation => offer::letter(content, offer::Reader::New, portal),
            NoticeKind::EndpointPaused => pause::letter(content, portal),
        }
    }

    /// One line, without control characters.
    #[must_use]
    pub fn subject(&self) -> &str {
        &self.subject
    }
}
