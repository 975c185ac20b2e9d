//! Mails, pending and sent.

use std::collections::BTreeSet;

use async_trait::async_trait;
use preauth_core::port::{MailKind, MailStatus as Stored, PageRequest, Unavailable};
use preauth_core::text_enum;
use preauth_core::value::{CompanyId, Email, MailId, OperationId, Timestamp};

use super::{DirectoryError, Page};

text_enum! {
    /// The status of a mail as the platform shows it.
    // Not the stored status of core: a mail whose address has reached its limit is stored as
    // pending, and one that is not wanted as canceled, each beside a mark.
    pub enum MailStatus, "mail status" {
        /// It will be sent.
        Pending => "PENDING",
        /// Waiting, because its address has reached its daily limit.
        Held => "HELD",
        /// It was handed over.
        Sent => "SENT",
        /// It was refused, or its attempts are used up.
        Failed => "FAILED",
        /// Its offer closed before it was sent.
        Canceled => "CANCELED",
        /// It was not sent, because the reader of its address wants no mails.
        Suppressed => "SUPPRESSED",
    }
}

impl MailStatus {
    /// The status that is shown for a stored one.
    #[must_use]
    pub const fn of(stored: Stored, is_held: bool, is_suppressed: bool) -> Self {
        match stored {
            Stored::Pending if is_held => Self::Held,
            Stored::Pending => Self::Pending,
            Stored::Sent => Self::Sent,
            Stored::Failed => Self::Failed,
            Stored::Canceled if is_suppressed => Self::Suppressed,
            Stored::Canceled => Self::Canceled,
        }
    }
}

/// A mail as the platform shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mail {
    /// The platform's id.
    pub id: MailId,
    /// The head office that it was stored for: the payer's, or the endpoint's.
    pub company: CompanyId,
    /// The operation that it is about.
    pub operation: Option<OperationId>,
    /// The kind of mail.
    pub kind: MailKind,
    /// The recipient's address.
    pub recipient: Email,
    /// Its status.
    pub status: MailStatus,
    /// When it was stored.
    pub created_at: Timestamp,
    /// When it is attempted next; `None` when it is finished.
    pub next_attempt_at: Option<Timestamp>,
    /// When it was sent, given up or canceled.
    pub ended_at: Option<Timestamp>,
    /// Attempts made so far.
    pub attempts_made: u32,
    /// Why the last attempt failed, if it did: untrusted text.
    pub last_error: Option<String>,
    /// The mail in which it was or will be sent; `None` when it has one of its own.
    pub joined_to: Option<MailId>,
}

/// The filter of a list of mails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MailFilter {
    /// Only this status.
    pub status: Option<MailStatus>,
    /// Only those of this kind.
    pub kind: Option<MailKind>,
    /// Only mails about this operation.
    pub operation: Option<OperationId>,
}

/// Reads and resends mails.
#[async_trait]
pub trait Mails: Send + Sync {
    /// A mail, if it exists.
    async fn mail(&self, id: MailId) -> Result<Option<Mail>, Unavailable>;

    /// The mails of a head office, or of all of them, newest first.
    async fn mails(
        &self,
        company: Option<CompanyId>,
        filter: MailFilter,
        page: PageRequest,
    ) -> Result<Page<Mail>, Unavailable>;

    /// Those of these mails that have a record.
    async fn recorded_mails(&self, ids: &[MailId]) -> Result<BTreeSet<MailId>, Unavailable>;

    /// Makes a mail due at `at`, with a fresh schedule; conflict unless it failed or was suppressed.
    /// The current state of its offer is checked when it is claimed.
    async fn resend_mail(&self, id: MailId, at: Timestamp) -> Result<(), DirectoryError>;
}
