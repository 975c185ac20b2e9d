//! What happens to mails.

use preauth_core::value::{MailId, Timestamp};
use preauth_server::mail::Outcome;

/// A fact about a mail.
#[derive(Clone, Debug)]
pub(crate) enum MailFact {
    /// An instance leased a mail, and the mails that are joined to it.
    Leased {
        instance: usize,
        mail: MailId,
        token: i64,
        joined: Vec<MailId>,
        /// The time of the claim.
        now: Timestamp,
        /// The number of facts before the claim began.
        asked_after: usize,
    },
    /// A claim canceled a mail.
    Canceled,
    /// An instance connects to the mail server.
    GoesOut {
        instance: usize,
        mail: MailId,
        recipient: String,
    },
    /// The mail server has the mail, whatever it answers.
    Taken { instance: usize, mail: MailId },
    /// The mail server does not take the mail, now or at all.
    Refused { instance: usize, mail: MailId },
    Finished {
        mail: MailId,
        token: i64,
        outcome: Outcome,
        is_recorded: bool,
    },
    /// A lease is returned.
    Released { mail: MailId, token: i64 },
}
