//! Mails, staged and sent.

use async_trait::async_trait;
use preauth_core::port::{NoticeKind, PageRequest, Unavailable};
use preauth_core::text_enum;
use preauth_core::value::{CompanyId, Email, NoticeId, OperationId, Timestamp};

use super::{DirectoryError, Page};

text_enum! {
    /// Where a mail stands.
    pub enum NoticeStatus, "notice status" {
        /// It will be sent.
        Pending => "PENDING",
        /// It waits because its address has had its share of the day.
        Held => "HELD",
        /// It was handed over.
        Sent => "SENT",
        /// It was refused, or its attempts are used up.
        Failed => "FAILED",
        /// Its offer ended before it left, so that nobody is told of it any more.
        Canceled => "CANCELED",
    }
}

/// A mail as the platform shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The platform's id.
    pub id: NoticeId,
    /// The head office that it was staged for: of the payer, or of the endpoint.
    pub company: CompanyId,
    /// The operation that it tells of.
    pub operation: Option<OperationId>,
    /// What it tells.
    pub kind: NoticeKind,
    /// Where it goes.
    pub recipient: Email,
    /// Where it stands.
    pub status: NoticeStatus,
    /// When it was staged.
    pub created_at: Timestamp,
    /// When it is tried next; `None` when it has ended.
    pub next_attempt_at: Option<Timestamp>,
    /// When it was sent, given up or canceled.
    pub ended_at: Option<Timestamp>,
    /// Attempts made so far.
    pub attempts_made: u32,
    /// Why the last attempt failed, if it did: a stranger's words.
    pub last_error: Option<String>,
}

/// Which mails a list shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoticeFilter {
    /// Only those that stand so.
    pub status: Option<NoticeStatus>,
    /// Only those of this kind.
    pub kind: Option<NoticeKind>,
    /// Only those that tell of this operation.
    pub operation: Option<OperationId>,
}

/// Reads what was staged, and sends again.
#[async_trait]
pub trait Notices: Send + Sync {
    /// A mail, if it exists.
    async fn notice(&self, id: NoticeId) -> Result<Option<Notice>, Unavailable>;

    /// A head office's mails, newest first.
    async fn notices(
        &self,
        company: CompanyId,
        filter: NoticeFilter,
        page: PageRequest,
    ) -> Result<Page<Notice>, Unavailable>;

    /// Makes a failed mail due at `at` again, with a fresh schedule; conflict when it stands
    /// otherwise. What it tells of is looked at when its turn comes.
    async fn resend_notice(&self, id: NoticeId, at: Timestamp) -> Result<(), DirectoryError>;
}
