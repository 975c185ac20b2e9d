//! Settles the deliveries of an endpoint that was removed or resumed. It works in batches, so that
//! the change of the endpoint itself is short, however many deliveries it has.
//!
//! The remaining work is visible in the rows. Any instance continues it at any time, also after a
//! crash.

use sqlx::{PgConnection, Row};
use uuid::Uuid;

use super::rows::clamped;
use super::waiting::waiting;
use crate::store::error::WriteError;

/// Maximum number of resumed endpoints per batch.
const MAX_RESUMED_ENDPOINTS: usize = 16;

/// The number of deliveries settled by a batch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settled {
    /// Failed, because their endpoint was removed.
    pub(super) ended: u64,
    /// Due now, because their endpoint was resumed.
    pub(super) made_due: u64,
}

/// Settles a batch; rows that others have locked are left for the next one. The deliveries of removed endpoints
/// are searched for in the batches that walk.
pub(super) async fn settle(
    connection: &mut PgConnection,
    (limit, walks): &(u32, bool),
) -> Result<Settled, WriteError> {
    let ended = if *walks {
        end_removed(connection, *limit).await?
    } else {
        0
    };
    let mut made_due: u64 = 0;
    let mut seen = Vec::new();
    while seen.len() < MAX_RESUMED_ENDPOINTS && made_due < u64::from(*limit) {
        let left = u64::from(*limit).saturating_sub(made_due);
        match make_due(connection, &seen, left).await? {
            Some((endpoint, count)) => {
                made_due = made_due.saturating_add(count);
                seen.push(endpoint);
            }
            None => break,
        }
    }
    Ok(Settled { ended, made_due })
}

/// Fails the pending deliveries of removed endpoints as of their removal, leased or not.
async fn end_removed(connection: &mut PgConnection, limit: u32) -> Result<u64, WriteError> {
    let done = sqlx::query(concat!(
        "WITH RECURSIVE ",
        waiting!(),
        ",
         removed (id, deleted_at) AS MATERIALIZED (
             SELECT e.id, e.deleted_at
             FROM waiting w CROSS JOIN LATERAL (
                 SELECT e.id, e.deleted_at FROM endpoints e
                 WHERE e.id = w.endpoint_id AND e.deleted_at IS NOT NULL LIMIT 1) AS e
         ),
         left_over (id, deleted_at) AS MATERIALIZED (
             SELECT d.id, r.deleted_at
             FROM removed r CROSS JOIN LATERAL (
                 SELECT d.id FROM deliveries d
                 WHERE d.status = 'PENDING' AND d.endpoint_id = r.id
                 ORDER BY d.next_attempt_at, d.id LIMIT $1 FOR UPDATE SKIP LOCKED) AS d
             LIMIT $1
         )
         UPDATE deliveries d
         SET status = 'FAILED', next_attempt_at = NULL, ended_at = l.deleted_at,
             leased_until = NULL
         FROM left_over l WHERE d.id = ANY (ARRAY[l.id])"
    ))
    .bind(i64::from(limit))
    .execute(connection)
    .await?;
    Ok(done.rows_affected())
}

/// The condition for the kept deliveries to make due, of the endpoint `$1` that was resumed at `$2`.
/// Those attempted since then keep their schedule.
macro_rules! kept {
    () => {
        "SELECT d.id FROM deliveries d
         WHERE d.status = 'PENDING' AND d.endpoint_id = $1 AND d.next_attempt_at > $2
           AND coalesce((SELECT max(a.at) FROM attempts a WHERE a.delivery_id = d.id),
                        d.created_at) <= $2"
    };
}

/// Makes kept deliveries of a resumed endpoint due, and returns their number; `None` when there is no
/// such endpoint other than those in `seen`.
async fn make_due(
    connection: &mut PgConnection,
    seen: &[Uuid],
    limit: u64,
) -> Result<Option<(Uuid, u64)>, WriteError> {
    let resumed = sqlx::query(
        "SELECT id, resumed_at FROM endpoints
         WHERE resumed_at IS NOT NULL AND paused_at IS NULL AND deleted_at IS NULL
           AND id <> ALL ($1)
         LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED",
    )
    .bind(seen)
    .fetch_optional(&mut *connection)
    .await?;
    let Some(resumed) = resumed else {
        return Ok(None);
    };
    let endpoint: Uuid = resumed.try_get(0)?;
    let resumed_at: i64 = resumed.try_get(1)?;
    let done = sqlx::query(concat!(
        "UPDATE deliveries SET next_attempt_at = $2
         WHERE id = ANY (ARRAY(",
        kept!(),
        " ORDER BY d.next_attempt_at, d.id LIMIT $3 FOR UPDATE SKIP LOCKED))",
    ))
    .bind(endpoint)
    .bind(resumed_at)
    .bind(clamped(limit))
    .execute(&mut *connection)
    .await?;
    if done.rows_affected() < limit {
        // A locked one is left for the next batch.
        sqlx::query(concat!(
            "UPDATE endpoints SET resumed_at = NULL WHERE id = $1 AND NOT EXISTS (",
            kept!(),
            ")",
        ))
        .bind(endpoint)
        .bind(resumed_at)
        .execute(connection)
        .await?;
    }
    Ok(Some((endpoint, done.rows_affected())))
}
