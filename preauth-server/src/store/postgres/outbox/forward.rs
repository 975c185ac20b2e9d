//! Repairs due times and leases that a clock put too far ahead.

use preauth_core::delivery::{MAX_LEASE, MAX_RETRY_DELAY};
use preauth_core::value::Timestamp;
use sqlx::PgConnection;

use super::super::rows::clamped;
use super::super::waiting::waiting;
use crate::store::error::WriteError;

/// Makes deliveries due and ends leases, `limit` at most, and returns their number. Rows that others
/// have locked are left for the next call. Its two walks through all endpoints need no pace of their own: the
/// janitor begins them twice a minute, where paced ones rest for a minute at most, and again only after a whole batch.
pub(super) async fn bring_forward(
    connection: &mut PgConnection,
    (now, limit): &(Timestamp, u32),
) -> Result<u64, WriteError> {
    let due = make_due(connection, *now, *limit).await?;
    let rest = u64::from(*limit).saturating_sub(due);
    let ended = end_leases(connection, *now, rest).await?;
    Ok(due.saturating_add(ended))
}

/// The index has the latest due times of each endpoint at its end.
async fn make_due(
    connection: &mut PgConnection,
    now: Timestamp,
    limit: u32,
) -> Result<u64, WriteError> {
    let done = sqlx::query(concat!(
        "WITH RECURSIVE ",
        waiting!(),
        ",
         active (endpoint_id) AS MATERIALIZED (
             SELECT e.id FROM waiting w CROSS JOIN LATERAL (
                 SELECT e.id, e.paused_at, e.deleted_at FROM endpoints e
                 WHERE e.id = w.endpoint_id LIMIT 1) AS e
             WHERE e.paused_at IS NULL AND e.deleted_at IS NULL
         ),
         late (id) AS MATERIALIZED (
             SELECT d.id FROM active a CROSS JOIN LATERAL (
                 SELECT d.id FROM deliveries d
                 WHERE d.status = 'PENDING' AND d.endpoint_id = a.endpoint_id
                   AND d.next_attempt_at > $2
                 ORDER BY d.next_attempt_at, d.id LIMIT $3 FOR UPDATE SKIP LOCKED) AS d
             LIMIT $3
         )
         UPDATE deliveries d SET next_attempt_at = $1
         FROM late l WHERE d.id = ANY (ARRAY[l.id])"
    ))
    .bind(now.unix_millis())
    .bind(now.saturating_add(MAX_RETRY_DELAY).unix_millis())
    .bind(i64::from(limit))
    .execute(connection)
    .await?;
    Ok(done.rows_affected())
}

/// Only a pending delivery is leased. If the database's clock is behind, every lease looks too long: the
/// later of both clocks counts.
async fn end_leases(
    connection: &mut PgConnection,
    now: Timestamp,
    limit: u64,
) -> Result<u64, WriteError> {
    let done = sqlx::query(concat!(
        "WITH RECURSIVE
         clock (now) AS MATERIALIZED (
             SELECT (extract(epoch FROM clock_timestamp()) * 1000)::BIGINT
         ), ",
        waiting!(),
        ",
         endless (id) AS MATERIALIZED (
             SELECT d.id FROM waiting w CROSS JOIN LATERAL (
                 SELECT d.id FROM deliveries d
                 WHERE d.endpoint_id = w.endpoint_id AND d.leased_until IS NOT NULL
                   AND d.leased_until > greatest((SELECT now FROM clock), $3) + $1
                 ORDER BY d.leased_until LIMIT $2 FOR UPDATE SKIP LOCKED) AS d
             LIMIT $2
         )
         UPDATE deliveries d SET leased_until = (SELECT now FROM clock)
         FROM endless l WHERE d.id = ANY (ARRAY[l.id])"
    ))
    .bind(MAX_LEASE.num_milliseconds())
    .bind(clamped(limit))
    .bind(now.unix_millis())
    .execute(connection)
    .await?;
    Ok(done.rows_affected())
}
