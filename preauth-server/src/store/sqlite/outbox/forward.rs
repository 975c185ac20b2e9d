//! Repairs due times and leases that a clock put too far ahead.

use preauth_core::delivery::{MAX_LEASE, MAX_RETRY_DELAY};
use preauth_core::value::Timestamp;
use sqlx::SqliteConnection;

use super::super::rows::clamped;
use super::super::waiting::waiting;
use crate::store::error::WriteError;

/// Makes deliveries due and ends leases, `limit` at most, and returns their number.
pub(super) async fn bring_forward(
    connection: &mut SqliteConnection,
    (now, limit): &(Timestamp, u32),
) -> Result<u64, WriteError> {
    let due = make_due(connection, *now, *limit).await?;
    let rest = u64::from(*limit).saturating_sub(due);
    let ended = end_leases(connection, *now, rest).await?;
    Ok(due.saturating_add(ended))
}

/// `waiting` goes from one endpoint with pending deliveries to the next by the index, which then has the
/// latest due times of each at its end.
async fn make_due(
    connection: &mut SqliteConnection,
    now: Timestamp,
    limit: u32,
) -> Result<u64, WriteError> {
    let done = sqlx::query(concat!(
        "WITH RECURSIVE ",
        waiting!(),
        ",
         late (id) AS MATERIALIZED (
             SELECT d.id FROM waiting w
             JOIN endpoints e ON e.id = w.endpoint_id
             JOIN deliveries d ON d.id IN (
                 SELECT n.id FROM deliveries n
                 WHERE n.status = 'PENDING' AND n.endpoint_id = w.endpoint_id
                   AND n.next_attempt_at > ?2
                 LIMIT ?3)
             WHERE e.paused_at IS NULL AND e.deleted_at IS NULL
             LIMIT ?3
         )
         UPDATE deliveries SET next_attempt_at = ?1 WHERE id IN (SELECT id FROM late)"
    ))
    .bind(now.unix_millis())
    .bind(now.saturating_add(MAX_RETRY_DELAY).unix_millis())
    .bind(limit)
    .execute(connection)
    .await?;
    Ok(done.rows_affected())
}

/// Only what is leased is in the index that is read. By a machine's clock that was set back every lease would
/// seem endless, so the later of both clocks counts.
async fn end_leases(
    connection: &mut SqliteConnection,
    now: Timestamp,
    limit: u64,
) -> Result<u64, WriteError> {
    let done = sqlx::query(
        "UPDATE deliveries SET leased_until = CAST(unixepoch('subsec') * 1000 AS INTEGER)
         WHERE id IN (
             SELECT id FROM deliveries INDEXED BY deliveries_leased
             WHERE leased_until IS NOT NULL
               AND leased_until > max(CAST(unixepoch('subsec') * 1000 AS INTEGER), ?3) + ?1
             LIMIT ?2)",
    )
    .bind(MAX_LEASE.num_milliseconds())
    .bind(clamped(limit))
    .bind(now.unix_millis())
    .execute(connection)
    .await?;
    Ok(done.rows_affected())
}
