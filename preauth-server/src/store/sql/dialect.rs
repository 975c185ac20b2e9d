//! Where the databases' SQL differs.

/// A statement in both dialects, from texts and fragments:
///
/// - `LOCKED`: a lock of rows, which SQLite's only writer does not need;
/// - `AMONG … THESE`: the keys that a subquery selects. PostgreSQL finds the rows by their keys, whatever
///   the statistics;
/// - `AMONG … SKIP_LOCKED`: the same, and locks them;
/// - `NOW`: the time of the database's clock;
/// - `MAILBOX`: the mailbox of a mail's recipient;
/// - `WAITING_OF`: that the mail `n` waits, and its head office; `DUE`: its due time; `HEAD_OFFICE`: the
///   id of the head office `c`. Each is written as in its own index, so that no other index is used;
/// - `(of_each "$1" "name")`: a value that is bound for one record in SQLite and for a list of them, `t`, in
///   PostgreSQL;
/// - `IS_NOT_REMOVED`: that the endpoint `e`, which a join finds by its id, is not removed (see `planner`);
/// - `IS_TAKEN`: that the event `n` has its numbers by now: that the batch `latest` has taken it;
/// - `BYTEWISE`: the order of texts by their bytes, SQLite's own;
/// - `BYTES`: the type of a value, which SQLite does not declare;
/// - `RETRIED_ENDPOINTS`: that `retried` are the endpoints with a delivery that waits after a failed attempt. Each step
///   jumps to the next endpoint in the index, past however many deliveries of the one before it;
/// - `(is_one_of "$1")`: whether an id is in a bound list;
/// - `(found_by "c.id")`: that a key is this value. PostgreSQL finds the row by its key, in whatever order it joins;
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
    (sqlite WAITING_OF) => {
        "INDEXED BY notices_waiting
         WHERE n.status = 'PENDING' AND n.joined_to IS NULL AND n.head_office_id"
    };
    (postgres WAITING_OF) => {
        "WHERE coalesce(n.next_attempt_at, 0) > 0 AND n.joined_to IS NULL
           AND CASE WHEN n.joined_to IS NULL THEN n.head_office_id END"
    };
    (sqlite DUE) => { "n.next_attempt_at" };
    (postgres DUE) => { "coalesce(n.next_attempt_at, 0)" };
    (sqlite HEAD_OFFICE) => { "c.head_office_id" };
    (postgres HEAD_OFFICE) => { "CASE WHEN c.kind = 'CONSTRUCTION' THEN c.head_office_id END" };
    ($database:ident IS_NOT_REMOVED) => { "CASE WHEN e.deleted_at IS NULL THEN TRUE END" };
    (sqlite IS_TAKEN) => { "" };
    (postgres IS_TAKEN) => {
        "AND latest.is_native AND n.xid < latest.next_xid AND n.xid <> ALL (latest.pending)
         AND n.xmin::TEXT = (n.xid % 4294967296)::TEXT"
    };
    (sqlite BYTEWISE) => { "" };
    (postgres BYTEWISE) => { " COLLATE \"C\"" };
    (sqlite BYTES) => { "" };
    (postgres BYTES) => { "::BYTEA" };
    ($database:ident RETRIED_ENDPOINTS) => {
        "WITH RECURSIVE retried (endpoint_id) AS (
             SELECT (SELECT d.endpoint_id FROM deliveries d
                     WHERE d.status = 'PENDING' AND d.attempts_made > 0
                     ORDER BY d.endpoint_id, d.created_at LIMIT 1)
             UNION ALL
             SELECT (SELECT d.endpoint_id FROM deliveries d
                     WHERE d.status = 'PENDING' AND d.attempts_made > 0
                       AND d.endpoint_id > r.endpoint_id
                     ORDER BY d.endpoint_id, d.created_at LIMIT 1)
             FROM retried r WHERE r.endpoint_id IS NOT NULL
         )"
    };
    (sqlite (is_one_of $list:literal)) => {
        concat!(" IN (SELECT unhex(value) FROM json_each(", $list, "))")
    };
    (postgres (is_one_of $list:literal)) => { concat!(" = ANY(", $list, ")") };
    (sqlite (found_by $value:literal)) => { concat!(" = ", $value) };
    (postgres (found_by $value:literal)) => { concat!(" = ANY (ARRAY[", $value, "])") };
    (sqlite (of_each $value:literal $name:literal)) => { $value };
    (postgres (of_each $value:literal $name:literal)) => { concat!("t.", $name) };
    (sqlite { sqlite: $text:literal, postgres: $other:literal }) => { $text };
    (postgres { sqlite: $other:literal, postgres: $text:literal }) => { $text };
    ($database:ident $text:literal) => { $text };
}
pub(super) use part;
