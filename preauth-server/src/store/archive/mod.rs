//! What the archives of both databases share: the order in which they read, and how rows become the
//! records that they belong to. A row that cannot be read is told in place of its record.

mod gathering;
mod notices;
mod pages;
mod stage;
mod stored;

use preauth_core::port::{Read, Record, Subject, Unreadable};

use super::rows::Corrupt;

pub(super) use gathering::Gathering;
pub(super) use notices::{notices, offers_without_mail, sent};
pub(super) use pages::{
    file_bytes, holders, last_operation, last_order, last_other, miscounts, operations, orders,
    others, replies, strays,
};
pub(super) use stage::{Owner, Page, Place, Range, Stage};

/// The outcome of reading a row: what it holds, or why it cannot be read.
type RowRead<T> = Result<T, String>;

fn readable<T>(read: Result<T, Corrupt>) -> RowRead<T> {
    read.map_err(|corrupt| corrupt.to_string())
}

fn read_of(subject: Subject, read: RowRead<Record>) -> Read<Record> {
    read.map_err(|what| Unreadable { subject, what })
}
