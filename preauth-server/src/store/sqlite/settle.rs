//! Settles the deliveries of an endpoint that was removed or resumed. It works in batches, so that
//! the change of the endpoint itself is short, however many deliveries it has.
//!
//! The remaining work is visible in the rows, so it continues after a crash.

use sqlx::{Row, SqliteConnection};

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

/// Settles a batch.
pub(super) async fn settle(
    connection: &mut SqliteConnection,
    limit: &u32,
) -> Result<Settled, WriteError> {
    let ended = end_removed(connection, *limit).await?;
    let mut made_due: u64 = 0;
    for _ in 0..MAX_RESUMED_ENDPOINTS {
        let left = u64::from(*limit).saturating_sub(made_due);
        match make_due(connection, left).await? {
            Some(count) => made_due = made_due.saturating_add(count),
            None => break,
        }
        if made_due >= u64::from(*limit) {
            break;
        }
    }
    Ok(Settled { ended, made_due })
}

/// Fails the pending deliveries of removed endpoints as of their removal, leased or not.
async fn end_removed(connection: &mut SqliteConnection, limit: u32) -> Result<u64, WriteError> {
    let done = sqlx::query(concat!(
        "WITH RECURSIVE ",
        waiting!(),
        ",
         removed (id) AS MATERIALIZED (
             SELECT e.id FROM waiting w JOIN endpoints e ON e.id = w.endpoint_id
             WHERE e.deleted_at IS NOT NULL LIMIT 1
         )
         UPDATE deliveries
         SET status = 'FAILED', next_attempt_at = NULL, leased_until = NULL,
             ended_at = (SELECT e.deleted_at FROM endpoints e
                         WHERE e.id = deliveries.endpoint_id)
         WHERE id IN (
             SELECT d.id FROM deliveries d
             WHERE d.status = 'PENDING' AND d.endpoint_id = (SELECT id FROM removed)
             LIMIT ?1)"
    ))
    .bind(limit)
    .execute(connection)
    .await?;
    Ok(done.rows_affected())
}

/// Makes the kept deliveries of a resumed endpoint due; `None` when there is no such endpoint.
/// Deliveries attempted since then keep their schedule.
async fn make_due(
    connection: &mut SqliteConnection,
    limit: u64,
) -> Result<Option<u64>, WriteError> {
    let resumed = sqlx::query(
        "SELECT id, resumed_at FROM endpoints
         WHERE resumed_at IS NOT NULL AND paused_at IS NULL AND deleted_at IS NULL LIMIT 1",
    )
    .fetch_optional(&mut *connection)
    .await?;
    let Some(resumed) = resumed else {
        return Ok(None);
    };
    let endpoint: Vec<u8> = resumed.try_get(0)?;
    let resumed_at: i64 = resumed.try_get(1)?;
    let done = sqlx::query(
        "UPDATE deliveries SET next_attempt_at = ?2
         WHERE id IN (
             SELECT d.id FROM deliveries d
             WHERE d.status = 'PENDING' AND d.endpoint_id = ?1 AND d.next_attempt_at > ?2
               AND coalesce((SELECT max(a.at) FROM attempts a WHERE a.delivery_id = d.id),
                            d.created_at) <= ?2
             ORDER BY d.next_attempt_at, d.id LIMIT ?3)",
    )
    .bind(endpoint.as_slice())
    .bind(resumed_at)
    .bind(clamped(limit))
    .execute(&mut *connection)
    .await?;
    if done.rows_affected() < limit {
        sqlx::query("UPDATE endpoints SET resumed_at = NULL WHERE id = ?1")
            .bind(endpoint.as_slice())
            .execute(connection)
            .await?;
    }
    Ok(Some(done.rows_affected()))
}
