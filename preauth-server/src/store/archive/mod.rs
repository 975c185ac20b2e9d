//! Common to the archives of both databases: the order of reading, and how rows become records. An
//! unreadable row is returned as an error in place of its record.

mod gathering;
mod lists;
mod mails;
mod orphans;
mod pages;
mod stage;
mod stored;

use preauth_core::port::{Read, Record, Subject, Unreadable};

use super::rows::Corrupt;

pub(super) use gathering::Gathering;
pub(super) use lists::{DueEvent, list, list_end, missing_numbers, unlisted};
pub(super) use mails::{mails, offers_without_mail, sent};
pub(super) use orphans::{
    after_delivery, after_reply, orphans_of_deliveries, orphans_of_events, orphans_of_replies,
};
pub(super) use pages::{
    after_event, file_bytes, head_office, holders, last_operation, last_order, miscounts,
    misplaced_events, operations, orders, other_events, others, replies,
};
pub(super) use stage::{FileSum, Page, Range, Stage};

/// The result of reading a row: its value, or why it is unreadable.
type RowRead<T> = Result<T, String>;

fn readable<T>(read: Result<T, Corrupt>) -> RowRead<T> {
    read.map_err(|corrupt| corrupt.to_string())
}

/// The finding for a row that belongs to no record, because a key of it is unreadable.
fn without_key(what: &'static str, corrupt: Corrupt) -> Unreadable {
    Unreadable {
        subject: Subject::Nameless(what),
        what: corrupt.to_string(),
    }
}

fn read_of(subject: Subject, read: RowRead<Record>) -> Read<Record> {
    read.map_err(|what| Unreadable { subject, what })
}
