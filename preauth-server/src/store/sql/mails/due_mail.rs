//! A mail that is due, before it is known whether its turn has come.

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
    /// Whether it was put off before.
    pub(super) is_held: bool,
    /// A lease that ran out keeps its place in the share: nobody knows whether the mail was sent.
    pub(super) has_place: bool,
    /// Whether the supplier can no longer request what it offers.
    pub(super) is_over: bool,
    /// Until when the supplier can.
    pub(super) offer_ends: Option<Timestamp>,
    /// Whether others go in it.
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
            offer_ends: columns.optional_timestamp("offer_ends")?,
            has_joined: columns.raw("has_joined")?,
        })
    }
}
