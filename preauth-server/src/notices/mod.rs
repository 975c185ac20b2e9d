//! Mails: staged by the commit of the change that they tell of, sent afterwards.
//!
//! What a mail tells is staged with an offer (its supplier is told, or invited), or with the pause of
//! an endpoint (its company is told). From there on:
//!
//! 1. the queue leases what is due, one mail at a time and no more to an address than its share of
//!    the day; what exceeds it goes in one mail (`queue`, `share`);
//! 2. its words are chosen and the message is built (`letter`, `letterhead`);
//! 3. a transport takes it: a folder, or a mail server (`transport`);
//! 4. the outcome is recorded if the lease still holds (`sender`, `verdict`).
//!
//! A mail may arrive more than once, after a crash between sending and recording: its `Message-ID`
//! is the same every time.

mod letter;
mod letterhead;
mod queue;
mod sender;
mod settings;
mod share;
mod transport;
mod verdict;

pub use letter::{Letter, PausedEndpoint, UnreadableContent};
pub use letterhead::{Letterhead, Mail, Unwritable};
pub use queue::{Claimed, JoinedNotice, LeasedNotice, NoticeClaim, NoticeQueue, Outcome};
pub use sender::{MailDesk, NoticeSender};
pub use settings::{MailSettings, SmtpLogin, SmtpSettings, SmtpTls};
pub use share::{DailyShare, MailLimits};
pub use transport::{Folder, NotTaken, Reason, SmtpRelay, Transport, TransportError};

pub(crate) use share::{Turn, Usage, is_counted};

/// Users of a company that are told by mail at most; the first that were registered.
pub(crate) const MAX_RECIPIENTS: u32 = 20;
/// Offers that one mail can tell of.
pub(crate) const MAX_JOINED: u32 = 200;
/// Mails that are put off by one claim: few enough that no other write waits long behind it.
pub(crate) const POSTPONE_BATCH_SIZE: u32 = 1_000;
