//! What ends soon, and what should have been done: found by indexes, except for the keys, of which there are few.

use chrono::TimeDelta;
use preauth_core::value::Timestamp;

use crate::store::error::Fault;
use crate::store::rows::Columns;
use crate::store::watch::{COUNT_LIMIT, Deadlines, LOOKED_AHEAD};

use super::{Session, query, sql};

/// A key or token is in use that was used within this time.
const IN_USE: TimeDelta = TimeDelta::days(7);

/// The orders within keep the planner to the index of each.
pub(in crate::store) async fn deadlines(
    session: &mut dyn Session,
    now: Timestamp,
) -> Result<Deadlines, Fault> {
    let row = query(sql!(
        "SELECT
             (SELECT count(*) FROM (
                  SELECT 1 FROM operations WHERE status = 'IN_PRE_AUTH' AND expires_at <= $1
                  ORDER BY expires_at, id LIMIT $2) AS counted) AS overdue_offers,
             (SELECT expires_at FROM operations WHERE status = 'IN_PRE_AUTH' AND expires_at <= $1
              ORDER BY expires_at, id LIMIT 1) AS oldest_overdue_at,
             (SELECT at FROM audit_log WHERE seal IS NULL ORDER BY seal, id LIMIT 1) AS oldest_unsealed_at,
             (SELECT min(k.expires_at) FROM api_keys k
              WHERE k.revoked_at IS NULL AND k.expires_at > $3 AND k.expires_at < $4 AND $3 < (
                  SELECT r.last_used_at FROM "
        {
            sqlite: "rate_windows r WHERE r.api_key_id = k.id",
            postgres: "rate_counts r WHERE r.api_key_id = k.id ORDER BY r.generation DESC LIMIT 1"
        }
        ")) AS api_key_ends_at,
             (SELECT min(valid_until) FROM operators
              WHERE revoked_at IS NULL AND valid_until > $3 AND valid_until < $4 AND last_used_at > $3) AS operator_token_ends_at"
    ))
    .bind(now.unix_millis())
    .bind(COUNT_LIMIT)
    .bind(now.saturating_sub(IN_USE).unix_millis())
    .bind(now.saturating_add(LOOKED_AHEAD).unix_millis())
    .fetch_one(session)
    .await?;
    let columns = Columns::of("operations", &row);
    Ok(Deadlines {
        overdue_offers: columns.number("overdue_offers", |number| number.try_into().ok())?,
        oldest_overdue_at: columns.optional_timestamp("oldest_overdue_at")?,
        oldest_unsealed_at: columns.optional_timestamp("oldest_unsealed_at")?,
        api_key_ends_at: columns.optional_timestamp("api_key_ends_at")?,
        operator_token_ends_at: columns.optional_timestamp("operator_token_ends_at")?,
    })
}
