//! The queue of stored mails: each is leased, sent, and finished with an outcome.

use async_trait::async_trait;
use preauth_core::port::{MailKind, Unavailable};
use preauth_core::value::{CompanyId, Email, MailId, Timestamp};

use crate::live::Live;

use super::share::{MailClaim, MailLimits};

/// The mail queue of a store; any number of instances may share it.
///
/// Due times are the service's; a lease expires by the database's clock, so that a stalled instance
/// cannot keep its mails.
#[async_trait]
pub trait MailQueue: Send + Sync {
    /// Leases due mails, at most `claim.limit`, each to another mailbox. A mail whose offer has closed, or
    /// whose reader wants none, is canceled instead. If its address has reached its daily limit, the mail and the other due mails to
    /// the address are postponed.
    ///
    /// Nothing is returned when no mail without a lease is due. Head offices take turns, so that the mails
    /// of one do not delay those of another; each has its own in the order in which they are due.
    ///
    /// Mails in progress count, so that no address gets more than its daily limit, however many
    /// instances claim concurrently. The last mail of a day, and a postponed one, include the other
    /// waiting mails of the same head office to the same mailbox; these stay together until they
    /// are sent or given up.
    async fn claim(&self, claim: &MailClaim) -> Result<Vec<Claimed>, Unavailable>;

    /// Records one attempt and its consequences, and ends the lease.
    ///
    /// Returns `false`, and records nothing, when the lease is no longer the mail's newest.
    async fn finish(&self, leased: &LeasedMail, outcome: &Outcome) -> Result<bool, Unavailable>;

    /// Ends a lease without an attempt: the mail is due again now.
    async fn release(&self, leased: &LeasedMail) -> Result<(), Unavailable>;

    /// The earliest time at which a mail without a lease is due.
    async fn next_due(&self) -> Result<Option<Timestamp>, Unavailable>;

    /// Gives the limits that hold from now on. What a claim found under other limits holds no mail back.
    fn follow(&self, _limits: &Live<MailLimits>) {}
}

/// The outcome of a claim for a mail that was due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claimed {
    /// It was postponed; others after it may be due.
    PutOff,
    /// It was canceled.
    Canceled {
        /// The mail.
        id: MailId,
        /// The kind of mail.
        kind: MailKind,
        /// Why.
        reason: Cancellation,
    },
    /// It is to be sent.
    Leased(Box<LeasedMail>),
}

/// Why a mail is not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cancellation {
    /// The supplier can no longer request the offer.
    OfferClosed,
    /// The reader wants no mails.
    AddressSuppressed,
}

impl Cancellation {
    /// As the log names it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OfferClosed => "its offer no longer stands",
            Self::AddressSuppressed => "its reader wants no mails",
        }
    }
}

/// A leased mail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeasedMail {
    /// The mail; the same at every attempt.
    pub id: MailId,
    /// Identifies this lease among all leases of the mail.
    pub token: i64,
    /// The kind of mail.
    pub kind: MailKind,
    /// The recipient's address.
    pub recipient: Email,
    /// Its data, as stored.
    pub content: String,
    /// Attempts made before this one.
    pub attempts_made: u32,
    /// The head office of its offers.
    pub head_office: CompanyId,
    /// The mails joined to this one.
    pub joined: Vec<JoinedMail>,
    /// The number of mailboxes that its head office has reached for the first time today, if this
    /// is one.
    pub new_mailboxes: Option<u64>,
}

/// A mail that is joined to another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinedMail {
    /// The mail.
    pub id: MailId,
    /// The kind of mail.
    pub kind: MailKind,
    /// Its data, as stored.
    pub content: String,
}

/// The consequence of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The mail was sent.
    Sent {
        /// When.
        at: Timestamp,
    },
    /// It is attempted again.
    RetryAt {
        /// When it is due again.
        at: Timestamp,
        /// Why it was not sent.
        error: String,
    },
    /// It is given up.
    Failed {
        /// When.
        at: Timestamp,
        /// Why it was not sent.
        error: String,
    },
}

/// The columns of an outcome, the same in every store.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutcomeColumns<'a> {
    pub(crate) status: &'static str,
    pub(crate) next_attempt_at: Option<i64>,
    pub(crate) ended_at: Option<i64>,
    pub(crate) last_error: Option<&'a str>,
}

impl Outcome {
    pub(crate) fn columns(&self) -> OutcomeColumns<'_> {
        let (status, next, ended, last_error) = match self {
            Self::Sent { at } => ("SENT", None, Some(at), None),
            Self::RetryAt { at, error } => ("PENDING", Some(at), None, Some(error)),
            Self::Failed { at, error } => ("FAILED", None, Some(at), Some(error)),
        };
        OutcomeColumns {
            status,
            next_attempt_at: next.map(|at| at.unix_millis()),
            ended_at: ended.map(|at| at.unix_millis()),
            last_error: last_error.map(String::as_str),
        }
    }
}
