//! Where the databases' SQL differs.

/// A statement in both dialects, from texts and fragments:
///
/// - `NOW`: the database's clock in milliseconds;
/// - `FOR_UPDATE`, `SKIP_LOCKED`, `FOR_KEY_SHARE`: row locks, which SQLite's only writer does not need;
/// - `BYTEWISE`: the order of texts by their bytes, SQLite's own;
/// - `BIGINT`, `BYTES`: the type of an expression, which SQLite does not declare;
/// - `(ids "$1")`: the members of a bound list;
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

macro_rules! part {
    (sqlite NOW) => {
        "CAST(unixepoch('subsec') * 1000 AS INTEGER)"
    };
    (postgres NOW) => {
        "(extract(epoch FROM clock_timestamp()) * 1000)::BIGINT"
    };
    (sqlite FOR_UPDATE) => {
        ""
    };
    (postgres FOR_UPDATE) => {
        " FOR UPDATE"
    };
    (sqlite SKIP_LOCKED) => {
        ""
    };
    (postgres SKIP_LOCKED) => {
        " FOR UPDATE SKIP LOCKED"
    };
    (sqlite FOR_KEY_SHARE) => {
        ""
    };
    (postgres FOR_KEY_SHARE) => {
        " FOR KEY SHARE"
    };
    (sqlite BYTEWISE) => {
        ""
    };
    (postgres BYTEWISE) => {
        " COLLATE \"C\""
    };
    (sqlite BIGINT) => {
        ""
    };
    (postgres BIGINT) => {
        "::BIGINT"
    };
    (sqlite BYTES) => {
        ""
    };
    (postgres BYTES) => {
        "::BYTEA"
    };
    (sqlite (ids $list:literal)) => {
        concat!("(SELECT unhex(value) FROM json_each(", $list, "))")
    };
    (postgres (ids $list:literal)) => {
        concat!("(SELECT unnest(", $list, "))")
    };
    (sqlite { sqlite: $text:literal, postgres: $other:literal }) => {
        $text
    };
    (postgres { sqlite: $other:literal, postgres: $text:literal }) => {
        $text
    };
    ($database:ident $text:literal) => {
        $text
    };
}
pub(super) use part;
