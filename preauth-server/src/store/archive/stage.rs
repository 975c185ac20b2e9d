//! The order of reading, and where a page ended.

use preauth_core::port::{Read, Record};
use uuid::Uuid;

use crate::store::rows::Corrupt;

/// The next thing to read, and where its last page ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::store) enum Stage {
    Operations(i64),
    Orders(i64),
    Events(Uuid),
    /// Deliveries once more, for what they refer to.
    Deliveries(Uuid),
    /// The head office whose list of events was read last.
    NextList(Uuid),
    /// A head office's list of events, up to a number.
    List(Uuid, i64),
    /// The numbers of events: the last one on SQLite, the last batch of them on PostgreSQL.
    Numbers(i64),
    Replies(Uuid, String),
    Holders(Uuid, String, String, i64),
    Mails(Uuid),
    /// Mailbox, time and id.
    Sent(String, i64, Uuid),
    OffersWithoutMail(i64),
    /// The head office whose counts were compared last.
    Counts(Uuid),
    /// The head office whose files were summed up last.
    FileBytes(Uuid),
    /// The files of a head office, up to one of its operations.
    FilesOf(FileSum),
    /// The last seal of the audit log that was checked, and its hash.
    Seals(i64, [u8; 32]),
    End,
}

/// The sum of the files of a head office's operations up to `operation`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store) struct FileSum {
    pub(in crate::store) head_office: Uuid,
    pub(in crate::store) operation: i64,
    pub(in crate::store) bytes: i64,
}

/// Records, and the following stage: the next one when this stage is complete.
pub(in crate::store) type Page = (Vec<Read<Record>>, Stage);

impl Stage {
    pub(in crate::store) const fn first() -> Self {
        Self::Operations(0)
    }

    /// The stage after a page with this number of rows: `next` if the page was full.
    pub(in crate::store) fn next(&self, rows: usize, limit: u32, next: Self) -> Self {
        let is_full = u32::try_from(rows).is_ok_and(|rows| rows >= limit);
        if is_full { next } else { self.after() }
    }

    /// The same for rows whose keys may be unreadable; also returns the rows that this page reports. A
    /// page ends with the last readable key: rows after it on a full page are read again with the
    /// next page. If no key is readable, the rest of this kind cannot be found.
    pub(in crate::store) fn after_rows<'r, R>(
        &self,
        rows: &'r [R],
        limit: u32,
        stage_at: impl Fn(&R) -> Result<Self, Corrupt>,
    ) -> (&'r [R], Self) {
        let mut places = rows.iter().enumerate().rev();
        let last = places.find_map(|(place, row)| Some((place, stage_at(row).ok()?)));
        let Some((place, last)) = last else {
            return (rows, self.after());
        };
        let next = self.next(rows.len(), limit, last);
        let end = if next == self.after() {
            rows.len()
        } else {
            place.saturating_add(1)
        };
        (rows.get(..end).unwrap_or(rows), next)
    }

    /// The first stage after this kind of record.
    pub(in crate::store) const fn after(&self) -> Self {
        match self {
            Self::Operations(_) => Self::Orders(0),
            Self::Orders(_) => Self::Events(Uuid::nil()),
            Self::Events(_) => Self::Deliveries(Uuid::nil()),
            Self::Deliveries(_) => Self::NextList(Uuid::nil()),
            // Continue with the next head office.
            Self::List(head_office, _) => Self::NextList(*head_office),
            Self::NextList(_) => Self::Numbers(0),
            Self::Numbers(_) => Self::Replies(Uuid::nil(), String::new()),
            Self::Replies(..) => Self::Holders(Uuid::nil(), String::new(), String::new(), 0),
            Self::Holders(..) => Self::Mails(Uuid::nil()),
            Self::Mails(_) => Self::Sent(String::new(), 0, Uuid::nil()),
            Self::Sent(..) => Self::OffersWithoutMail(0),
            Self::OffersWithoutMail(_) => Self::Counts(Uuid::nil()),
            Self::Counts(_) => Self::FileBytes(Uuid::nil()),
            // Continue with the next head office.
            Self::FilesOf(sum) => Self::FileBytes(sum.head_office),
            Self::FileBytes(_) => Self::Seals(0, [0; 32]),
            Self::Seals(..) | Self::End => Self::End,
        }
    }
}

/// A page of subjects with their events: those after the first id, up to the second one.
#[derive(Clone, Copy, Debug)]
pub(in crate::store) enum Range {
    Operations(i64, i64),
    Orders(i64, i64),
    /// Events without a numbered subject, by their own ids.
    Nothing(Uuid, Uuid),
}
