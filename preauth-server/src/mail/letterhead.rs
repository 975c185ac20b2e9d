//! Builds the message of a mail: letter, headers, and an id that is the same at every attempt.

use std::time::SystemTime;

use lettre::address::{AddressError, Envelope};
use lettre::message::header::{ContentType, HeaderName, HeaderValue};
use lettre::message::{Mailbox, MultiPart, SinglePart};
use lettre::{Address, Message};
use preauth_core::value::{MailId, Timestamp};
use thiserror::Error;
use url::Url;

use super::letter::{Letter, UnreadableContent};
use super::queue::LeasedMail;
use crate::secret::SupplierLinks;

/// Common to all mails of a server.
#[derive(Clone, Debug)]
pub struct Letterhead {
    /// The sender, as readers see it.
    pub from: Mailbox,
    /// The link for readers; without it, and without pages, mails have no link.
    pub portal: Option<Url>,
    /// The supplier's pages; with them each offer has a link of its own.
    pub pages: Option<SupplierLinks>,
}

/// A mail, ready to be sent.
#[derive(Clone, Debug)]
pub struct OutgoingMail {
    /// The id of the stored mail.
    pub id: MailId,
    /// Sender and recipient.
    pub envelope: Envelope,
    /// Headers and both bodies, with the line ends of mail.
    pub bytes: Vec<u8>,
}

/// Why a stored mail can never be built.
#[derive(Debug, Error)]
pub enum Unwritable {
    /// Its content is not in a known form.
    #[error(transparent)]
    Content(#[from] UnreadableContent),
    /// Its address is not valid for mail systems.
    #[error("the address is refused")]
    Address(#[from] AddressError),
    /// Its headers are invalid together.
    #[error("the mail cannot be built")]
    Message(#[from] lettre::error::Error),
}

impl Letterhead {
    /// Builds the message of a stored mail.
    ///
    /// Except for its date it is the same at every attempt, so that receivers recognise a
    /// duplicate.
    pub fn write(&self, mail: &LeasedMail, now: Timestamp) -> Result<OutgoingMail, Unwritable> {
        let letter = Letter::of(mail, self.portal.as_ref(), self.pages.as_ref())?;
        let to: Address = mail.recipient.as_str().parse()?;
        let domain = self.from.email.domain();
        let both = MultiPart::alternative()
            .boundary(format!("mail-{}", mail.id))
            .singlepart(part(ContentType::TEXT_PLAIN, letter.text()))
            .singlepart(part(ContentType::TEXT_HTML, letter.html()));
        let mut message = Message::builder()
            .from(self.from.clone())
            .to(Mailbox::new(None, to))
            .subject(letter.subject())
            .date(SystemTime::from(now.to_datetime()))
            .message_id(Some(format!("<{}@{domain}>", mail.id)))
            // Suppresses automatic replies such as absence notices, and so loops between two
            // machines.
            .raw_header(header("Auto-Submitted", "auto-generated"));
        if let Some(url) = letter.unsubscribe() {
            message = message.raw_header(header("List-Unsubscribe", &format!("<{url}>")));
            // RFC 8058, which asks for TLS.
            if url.scheme() == "https" {
                let one_click = header("List-Unsubscribe-Post", "List-Unsubscribe=One-Click");
                message = message.raw_header(one_click);
            }
        }
        let message = message.multipart(both)?;
        Ok(OutgoingMail {
            id: mail.id,
            envelope: message.envelope().clone(),
            bytes: message.formatted(),
        })
    }
}

fn header(name: &'static str, value: &str) -> HeaderValue {
    HeaderValue::new(HeaderName::new_from_ascii_str(name), value.to_owned())
}

fn part(content_type: ContentType, text: String) -> SinglePart {
    SinglePart::builder().header(content_type).body(text)
}
