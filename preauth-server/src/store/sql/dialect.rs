//! Where the databases' SQL differs.

/// A statement in both dialects, from texts and fragments:
///
/// - `LOCKED`: a lock of rows, which SQLite's only writer does not need;
/// - `AMONG … THESE`: the keys that a subquery selects. PostgreSQL finds the rows by their keys, whatever
///   the statistics;
/// - `AMONG … SKIP_LOCKED`: the same, and locks them;
/// - `NOW`: the time of the database's clock;
/// - `MAILBOX`: the mailbox of a mail's recipient;
/// - `BYTEWISE`: the order of texts by their bytes, SQLite's own;
/// - `BYTES`: the type of a value, which SQLite does not declare;
/// - `(is_one_of "$1")`: whether an id is in a bound list;
/// - `{ sqlite: "…", postgres: "…" }`: anything else.
macro_rules! sql {
    ($($part:tt)+) => {
        $crate::store::sql::Sql {
            sqlite: concat!($($crate::store::sql::part!(sqlite $part)),+),
            postgres: concat!($($crate::store::sql::part!(postgres $part)),+),
        }
    };
}
pub(super) use sql;

#[rustfmt::skip]
macro_rules! part {
    (sqlite LOCKED) => { "" };
    (postgres LOCKED) => { " FOR NO KEY UPDATE" };
    (sqlite AMONG) => { " IN (" };
    (postgres AMONG) => { " = ANY (ARRAY(" };
    (sqlite THESE) => { ")" };
    (postgres THESE) => { "))" };
    (sqlite SKIP_LOCKED) => { ")" };
    (postgres SKIP_LOCKED) => { " FOR UPDATE SKIP LOCKED))" };
    (sqlite NOW) => { "CAST(unixepoch('subsec') * 1000 AS INTEGER)" };
    (postgres NOW) => { "(extract(epoch FROM clock_timestamp()) * 1000)::BIGINT" };
    (sqlite MAILBOX) => { "mailbox" };
    (postgres MAILBOX) => { "mailbox(recipient)" };
    (sqlite BYTEWISE) => { "" };
    (postgres BYTEWISE) => { " COLLATE \"C\"" };
    (sqlite BYTES) => { "" };
    (postgres BYTES) => { "::BYTEA" };
    (sqlite (is_one_of $list:literal)) => {
        concat!(" IN (SELECT unhex(value) FROM json_each(", $list, "))")
    };
    (postgres (is_one_of $list:literal)) => { concat!(" = ANY(", $list, ")") };
    (sqlite { sqlite: $text:literal, postgres: $other:literal }) => { $text };
    (postgres { sqlite: $other:literal, postgres: $text:literal }) => { $text };
    ($database:ident $text:literal) => { $text };
}
pub(super) use part;
