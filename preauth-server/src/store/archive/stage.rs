//! The order of reading, and where a page ended.

use preauth_core::port::{Read, Record};
use uuid::Uuid;

/// The next thing to read, and where its last page ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::store) enum Stage {
    Operations(Place),
    Orders(Place),
    Others(Uuid),
    Replies(Uuid, String),
    Holders(Uuid, String, String, i64),
    Strays(Uuid),
    Mails(Uuid),
    /// Address, time and id.
    Sent(String, i64, Uuid),
    OffersWithoutMail(i64),
    /// The head office whose counts were compared last.
    Counts(Uuid),
    /// The head office whose files were summed up last.
    FileBytes(Uuid),
    End,
}

/// A head office and a number under it.
pub(in crate::store) type Place = (Uuid, i64);

/// Records, and the following stage: the next one when this stage is complete.
pub(in crate::store) type Page = (Vec<Read<Record>>, Stage);

const BEGINNING: Place = (Uuid::nil(), 0);

impl Stage {
    pub(in crate::store) const fn first() -> Self {
        Self::Operations(BEGINNING)
    }

    /// The stage after a page with this number of rows: `next` if the page was full.
    pub(in crate::store) fn next(&self, rows: usize, limit: u32, next: Self) -> Self {
        let is_full = u32::try_from(rows).is_ok_and(|rows| rows >= limit);
        if is_full { next } else { self.after() }
    }

    /// The first stage after this kind of record.
    pub(in crate::store) const fn after(&self) -> Self {
        match self {
            Self::Operations(_) => Self::Orders(BEGINNING),
            Self::Orders(_) => Self::Others(Uuid::nil()),
            Self::Others(_) => Self::Replies(Uuid::nil(), String::new()),
            Self::Replies(..) => Self::Holders(Uuid::nil(), String::new(), String::new(), 0),
            Self::Holders(..) => Self::Strays(Uuid::nil()),
            Self::Strays(_) => Self::Mails(Uuid::nil()),
            Self::Mails(_) => Self::Sent(String::new(), 0, Uuid::nil()),
            Self::Sent(..) => Self::OffersWithoutMail(0),
            Self::OffersWithoutMail(_) => Self::Counts(Uuid::nil()),
            Self::Counts(_) => Self::FileBytes(Uuid::nil()),
            Self::FileBytes(_) | Self::End => Self::End,
        }
    }
}

/// The subject of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store) enum Owner {
    Operation,
    Order,
    Nothing,
}

/// A page in the order of head offices and numbers; events without a numbered subject are in the
/// order of their own ids.
#[derive(Clone, Copy, Debug)]
pub(in crate::store) struct Range {
    pub(in crate::store) after: Place,
    pub(in crate::store) upto: Place,
}
