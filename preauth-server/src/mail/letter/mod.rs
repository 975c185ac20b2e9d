//! The texts of mails, in Portuguese: a letter is a subject and blocks, rendered as text and as
//! HTML.

mod brazilian;
mod failing;
mod offer;
mod pause;
mod untrusted;
mod written;

use super::queue::LeasedMail;
use crate::secret::SupplierLinks;
use preauth_core::port::MailKind;
use thiserror::Error;
use url::Url;

pub use failing::FailingEndpoint;
pub use pause::PausedEndpoint;

/// A mail's content, before it is rendered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letter {
    subject: String,
    blocks: Vec<Block>,
    /// Where the reader ends mails like this one.
    unsubscribe: Option<Url>,
}

/// A part of a letter.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Block {
    Paragraph(String),
    /// Names and values, one below the other.
    Facts(Vec<(&'static str, String)>),
    /// A link; its address comes from the configuration and the master key only.
    Link {
        label: &'static str,
        url: Url,
    },
    /// Small print.
    Note(String),
    /// A link in small print.
    NoteLink {
        label: &'static str,
        url: Url,
    },
}

/// The content of a mail has a form that neither this version nor an earlier one writes.
#[derive(Debug, Error)]
#[error("the staged content of the mail cannot be read")]
pub struct UnreadableContent(#[from] serde_json::Error);

impl Letter {
    /// The letter of a stored mail and of the mails joined to it. `portal` is the address of the
    /// platform's portal, if it is known; `pages` are the supplier's pages, if there are any.
    pub fn of(
        mail: &LeasedMail,
        portal: Option<&Url>,
        pages: Option<&SupplierLinks>,
    ) -> Result<Self, UnreadableContent> {
        match mail.kind {
            MailKind::EndpointPaused => return pause::letter(&mail.content, portal),
            MailKind::EndpointFailing => return failing::failing(&mail.content, portal),
            MailKind::EndpointRecovered => return failing::recovered(&mail.content, portal),
            MailKind::Offer | MailKind::Invitation => {}
        }
        let joined = mail.joined.iter().map(|it| (it.kind, &it.content));
        let staged = std::iter::once((mail.kind, &mail.content)).chain(joined);
        let offers = staged.map(|(kind, content)| {
            let reader = match kind {
                MailKind::Invitation => offer::Reader::New,
                MailKind::Offer
                | MailKind::EndpointPaused
                | MailKind::EndpointFailing
                | MailKind::EndpointRecovered => offer::Reader::Registered,
            };
            Ok((reader, serde_json::from_str(content)?))
        });
        Ok(offer::letter(
            &offers.collect::<Result<Vec<_>, UnreadableContent>>()?,
            &mail.recipient,
            portal,
            pages,
        ))
    }

    /// Where the reader ends mails like this one, if there is such a page.
    pub(super) const fn unsubscribe(&self) -> Option<&Url> {
        self.unsubscribe.as_ref()
    }

    /// The subject: one line, without control characters.
    #[must_use]
    pub fn subject(&self) -> &str {
        &self.subject
    }
}
