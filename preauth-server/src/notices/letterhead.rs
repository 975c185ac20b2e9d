//! A mail as it goes over the wire: letter, headers, and an id that stays the same.

use std::time::SystemTime;

use lettre::address::{AddressError, Envelope};
use lettre::message::header::{ContentType, HeaderName, HeaderValue};
use lettre::message::{Mailbox, MultiPart, SinglePart};
use lettre::{Address, Message};
use preauth_core::value::{NoticeId, Timestamp};
use thiserror::Error;
use url::Url;

use super::letter::{Letter, UnreadableContent};
use super::queue::LeasedNotice;

/// What all mails of a server have in common.
#[derive(Clone, Debug)]
pub struct Letterhead {
    /// The sender, as readers see it.
    pub from: Mailbox,
    /// Where readers go on; without it mails have no link.
    pub portal: Option<Url>,
}

/// A mail, ready to be handed over.
#[derive(Clone, Debug)]
pub struct Mail {
    /// The notice that it is.
    pub id: NoticeId,
    /// From whom, and to whom.
    pub envelope: Envelope,
    /// Headers and both bodies, with the line ends of mail.
    pub bytes: Vec<u8>,
}

/// Why a staged mail cannot be written; it never could.
#[derive(Debug, Error)]
pub enum Unwritable {
    /// Its content is not what was staged.
    #[error(transparent)]
    Content(#[from] UnreadableContent),
    /// Its address is none that mail systems take.
    #[error("the address is refused")]
    Address(#[from] AddressError),
    /// Its headers do not fit together.
    #[error("the mail cannot be built")]
    Message(#[from] lettre::error::Error),
}

impl Letterhead {
    /// The mail of a staged notice.
    ///
    /// Everything but its date is the same at every attempt, so that receivers recognise a mail that
    /// comes twice.
    pub fn write(&self, notice: &LeasedNotice, now: Timestamp) -> Result<Mail, Unwritable> {
        let letter = Letter::of(notice, self.portal.as_ref())?;
        let to: Address = notice.recipient.as_str().parse()?;
        let domain = self.from.email.domain();
        let both = MultiPart::alternative()
            .boundary(format!("notice-{}", notice.id))
            .singlepart(part(ContentType::TEXT_PLAIN, letter.text()))
            .singlepart(part(ContentType::TEXT_HTML, letter.html()));
        let message = Message::builder()
            .from(self.from.clone())
            .to(Mailbox::new(None, to))
            .subject(letter.subject())
            .date(SystemTime::from(now.to_datetime()))
            .message_id(Some(format!("<{}@{domain}>", notice.id)))
            // Whoever is away does not answer, and two machines do not write to each other.
            .raw_header(HeaderValue::new(
                HeaderName::new_from_ascii_str("Auto-Submitted"),
                "auto-generated".to_owned(),
            ))
            .multipart(both)?;
        Ok(Mail {
            id: notice.id,
            envelope: message.envelope().clone(),
            bytes: message.formatted(),
        })
    }
}

fn part(content_type: ContentType, text: String) -> SinglePart {
    SinglePart::builder().header(content_type).body(text)
}
