//! Mails: stored by the commit of the change that they report, sent afterwards.
//!
//! A mail is stored with an offer (its supplier is notified, or invited), or with the pause of an
//! endpoint (its company is notified). Then:
//!
//! 1. the queue leases due mails, head offices in turns and within the daily limit of each address;
//!    mails above the limit are joined into one (`queue`, `share`);
//! 2. the letter is written and the message built (`letter`, `letterhead`);
//! 3. a transport accepts it: a folder, or a mail server (`transport`);
//! 4. the outcome is recorded if the lease still holds, those of a moment together (`sender`, `recorder`, `retry`).
//!
//! A mail may arrive more than once, after a crash between sending and recording: its `Message-ID`
//! is the same every time.

mod kept_mails;
mod letter;
mod letterhead;
mod queue;
mod recorder;
mod retry;
mod sender;
mod settings;
mod share;
#[cfg(test)]
mod tests;
mod transport;

pub use lettre::message::Mailbox;

pub use letter::{FailingEndpoint, Letter, PausedEndpoint, UnreadableContent};
pub use letterhead::{Letterhead, OutgoingMail, Unwritable};
pub use queue::{Cancellation, Claimed, JoinedMail, LeasedMail, MailQueue, Outcome};
pub use sender::{MailParts, MailSender};
pub use settings::MailSettings;
pub use share::{DailyShare, MailClaim, MailLimits};
pub use transport::{
    Folder, NotTaken, Reason, SmtpLogin, SmtpRelay, SmtpSettings, SmtpTls, Transport,
    TransportError,
};

pub(crate) use kept_mails::KeptMails;
pub(crate) use share::{LAST_CALLS_PER_MAILBOX, Turn, Usage, is_counted, mailbox};
pub(crate) use transport::{PHRASES, Phrase};

/// Maximum number of a company's users who get a mail; the first registered ones.
pub(crate) const MAX_RECIPIENTS: u32 = 20;
/// Maximum number of offers in one mail.
pub(crate) const MAX_JOINED: u32 = 200;
/// Maximum number of mails that one claim postpones, so that other writes do not wait long.
pub(crate) const POSTPONE_BATCH_SIZE: u32 = 1_000;
