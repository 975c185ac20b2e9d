//! A due mail, before it is decided whether it may be sent now.

use preauth_core::port::MailKind;
use preauth_core::value::{CompanyId, MailId, Timestamp};

use crate::mail::is_counted;
use crate::store::rows::{Columns, Corrupt};

use super::super::Row;

#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact that any other may come with"
)]
pub(super) struct DueMail {
    pub(super) id: MailId,
    pub(super) next_attempt_at: i64,
    pub(super) kind: MailKind,
    pub(super) head_office: CompanyId,
    pub(super) mailbox: String,
    /// Whether it was postponed before.
    pub(super) is_held: bool,
    /// Whether it has a place in the share already: a mail with an expired lease keeps its place, because
    /// it may have been sent.
    pub(super) has_place: bool,
    /// Whether the offer has closed, so that the supplier can no longer request it.
    pub(super) is_over: bool,
    /// Whether the reader of its address wants no mails.
    pub(super) is_suppressed: bool,
    /// When the offer closes, if the mail is about one.
    pub(super) offer_ends: Option<Timestamp>,
    /// Whether other mails are joined to it.
    pub(super) has_joined: bool,
}

impl DueMail {
    /// Whether it needs a place in the share of its mailbox.
    pub(super) const fn needs_place(&self) -> bool {
        is_counted(self.kind) && !self.has_place
    }

    pub(super) fn read(row: &Row) -> Result<Self, Corrupt> {
        let columns = Columns::of("notices", row);
        Ok(Self {
            id: MailId::new(columns.uuid("id")?),
            next_attempt_at: columns.raw("next_attempt_at")?,
            kind: columns.parsed("kind")?,
            head_office: CompanyId::new(columns.uuid("head_office_id")?),
            mailbox: columns.raw("mailbox")?,
            is_held: columns.raw("is_held")?,
            has_place: columns.raw("has_place")?,
            is_over: columns.raw("is_over")?,
            is_suppressed: columns.raw("is_suppressed")?,
            offer_ends: columns.optional_timestamp("offer_ends")?,
            has_joined: columns.raw("has_joined")?,
        })
    }
}
