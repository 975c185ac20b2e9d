//! The queue of staged mails: one is leased, sent, and finished with an outcome.

use async_trait::async_trait;
use chrono::TimeDelta;
use preauth_core::port::{NoticeKind, Unavailable};
use preauth_core::value::{CompanyId, Email, NoticeId, Timestamp};

use super::share::DailyShare;

/// The sender's side of a store; any number of instances may work on one queue.
///
/// Due times are the service's; a lease ends by the database's clock, so that a stalled instance
/// cannot keep what it holds.
#[async_trait]
pub trait NoticeQueue: Send + Sync {
    /// Leases the mail that has been due for longest, unless its offer has ended: then the mail is
    /// canceled; or unless its address has had its share: then that and others to the same address
    /// wait.
    ///
    /// Together with what is under way, no address is given more than its share of a day, however
    /// many instances claim at once. The last mail of a day, and one that was put off, takes along
    /// what else waits of the same head office for the same mailbox; these stay together until they
    /// are sent or given up.
    async fn claim(&self, claim: &NoticeClaim) -> Result<Claimed, Unavailable>;

    /// Records one attempt and what follows from it, and ends the lease.
    ///
    /// `false`, and nothing recorded, when the lease is no longer the mail's newest.
    async fn finish(&self, leased: &LeasedNotice, outcome: &Outcome) -> Result<bool, Unavailable>;

    /// Ends a lease without an attempt: the mail is due again at once.
    async fn release(&self, leased: &LeasedNotice) -> Result<(), Unavailable>;

    /// The earliest moment at which a mail is due that nobody holds.
    async fn next_due(&self) -> Result<Option<Timestamp>, Unavailable>;
}

/// What to lease, and for how long.
#[derive(Clone, Copy, Debug)]
pub struct NoticeClaim {
    /// The service's clock: what is due by now.
    pub now: Timestamp,
    /// How long the lease lasts, by the database's clock.
    pub lease: TimeDelta,
    /// What one address gets in a day.
    pub share: DailyShare,
}

/// What a claim came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claimed {
    /// Nothing is due that nobody holds.
    Nothing,
    /// Nothing was leased, but something was put off; behind it something else may be due.
    PutOff,
    /// A mail was canceled: the supplier can no longer request what it offers.
    Canceled {
        /// The mail.
        id: NoticeId,
        /// What it would have told.
        kind: NoticeKind,
    },
    /// A mail to send.
    Leased(Box<LeasedNotice>),
}

/// One mail under a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeasedNotice {
    /// The mail; the same at every attempt.
    pub id: NoticeId,
    /// Tells this lease from every other of the same mail.
    pub token: i64,
    /// What it tells.
    pub kind: NoticeKind,
    /// Where it goes.
    pub recipient: Email,
    /// What it tells of, as it was staged.
    pub content: String,
    /// Attempts made before this one.
    pub attempts_made: u32,
    /// The head office whose offers it tells of.
    pub head_office: CompanyId,
    /// Mails that go in this one.
    pub joined: Vec<JoinedNotice>,
    /// How many mailboxes its head office has reached for the first time today, if this is one.
    pub new_mailboxes: Option<u64>,
}

/// A mail that goes in another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinedNotice {
    /// The mail.
    pub id: NoticeId,
    /// What it tells.
    pub kind: NoticeKind,
    /// What it tells of, as it was staged.
    pub content: String,
}

/// What follows from an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The mail was handed over.
    Sent {
        /// When.
        at: Timestamp,
    },
    /// It is tried again.
    RetryAt {
        /// When it is due again.
        at: Timestamp,
        /// Why it was not handed over.
        error: String,
    },
    /// It is given up.
    Failed {
        /// When.
        at: Timestamp,
        /// Why it was not handed over.
        error: String,
    },
}

/// The columns that an outcome becomes, the same in every store.
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
