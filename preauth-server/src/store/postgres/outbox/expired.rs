//! Finds expired leases by the time of their end.

use sqlx::{PgConnection, Row};
use uuid::Uuid;

use crate::store::error::Fault;

/// Maximum number of leases per endpoint and check.
const MAX_LEASES: i64 = 256;

/// Checks the leases of these endpoints that ended at `from` or later. Returns the earliest due time of
/// their deliveries, by endpoint, and where the next check begins: at the earliest end of an expired
/// lease, so that each check finds it until its delivery is leased again.
pub(super) async fn find(
    connection: &mut PgConnection,
    endpoints: &[Uuid],
    from: i64,
) -> Result<(Vec<(Uuid, i64)>, i64), Fault> {
    let rows = sqlx::query(
        "WITH clock (now) AS MATERIALIZED (
             SELECT (extract(epoch FROM clock_timestamp()) * 1000)::BIGINT)
         SELECT k.endpoint_id, e.due_from, coalesce(e.leased_until, c.now) AS expired_from
         FROM clock c CROSS JOIN unnest($1::UUID[]) AS k (endpoint_id)
         CROSS JOIN LATERAL (
             SELECT min(l.next_attempt_at) AS due_from, min(l.leased_until) AS leased_until
             FROM (SELECT d.next_attempt_at, d.leased_until FROM deliveries d
                   WHERE d.endpoint_id = k.endpoint_id AND d.leased_until IS NOT NULL
                     AND d.leased_until >= $2 AND d.leased_until <= (SELECT now FROM clock)
                   ORDER BY d.leased_until LIMIT $3) AS l) AS e",
    )
    .bind(endpoints)
    .bind(from)
    .bind(MAX_LEASES)
    .fetch_all(connection)
    .await?;
    let (mut due_from, mut expired_from) = (Vec::new(), None::<i64>);
    for row in &rows {
        let ended: i64 = row.try_get("expired_from")?;
        expired_from = Some(expired_from.map_or(ended, |from| from.min(ended)));
        let due: Option<i64> = row.try_get("due_from")?;
        if let Some(due) = due {
            due_from.push((row.try_get("endpoint_id")?, due));
        }
    }
    Ok((due_from, expired_from.unwrap_or(from)))
}
