//! Repairs due times and leases of mails that a clock put too far ahead.

use preauth_core::delivery::{MAX_LEASE, MAX_RETRY_DELAY};
use preauth_core::value::Timestamp;

use super::super::{Session, query, sql};
use crate::store::error::WriteError;
use crate::store::rows::clamped;

/// Makes mails due and ends leases, `limit` at most, and returns their number. A mail that was put off to
/// the next day waits less than the longest delay of the schedule. If the
/// database's clock is behind, every lease looks too long: the later of both clocks counts.
pub(in crate::store) async fn bring_forward(
    session: &mut dyn Session,
    (now, limit): &(Timestamp, u32),
) -> Result<u64, WriteError> {
    let due = query(sql!(
        "UPDATE notices SET next_attempt_at = $1
         WHERE id" AMONG "
             SELECT id FROM notices " { sqlite: "INDEXED BY notices_due", postgres: "" } "
             WHERE status = 'PENDING' AND next_attempt_at > $2
             ORDER BY next_attempt_at, id LIMIT $3" SKIP_LOCKED
    ))
    .bind(now.unix_millis())
    .bind(now.saturating_add(MAX_RETRY_DELAY).unix_millis())
    .bind(*limit)
    .execute(session)
    .await?;
    let ended = query(sql!(
        "WITH clock (now) AS MATERIALIZED (SELECT " NOW ")
         UPDATE notices SET leased_until = (SELECT now FROM clock)
         WHERE id" AMONG "
             SELECT id FROM notices " { sqlite: "INDEXED BY notices_leased", postgres: "" } "
             WHERE leased_until IS NOT NULL
               AND leased_until > " { sqlite: "max", postgres: "greatest" } "((SELECT now FROM clock), $3) + $1
             ORDER BY leased_until LIMIT $2" SKIP_LOCKED
    ))
    .bind(MAX_LEASE.num_milliseconds())
    .bind(clamped(u64::from(*limit).saturating_sub(due)))
    .bind(now.unix_millis())
    .execute(session)
    .await?;
    Ok(due.saturating_add(ended))
}
