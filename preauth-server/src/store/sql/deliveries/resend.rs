//! Ended deliveries become due again, and waiting ones at once.

use preauth_core::value::{CompanyId, DeliveryId, Timestamp};
use uuid::Uuid;

use crate::store::error::{WriteError, one_row_or};

use super::super::{Session, query, sql};

/// Queues an ended delivery again, with a fresh schedule.
pub(super) async fn one(
    session: &mut dyn Session,
    (id, at): &(DeliveryId, Timestamp),
) -> Result<(), WriteError> {
    let id = id.as_uuid();
    lock_endpoint(session, id).await?;
    let done = query(
        "UPDATE deliveries
         SET status = 'PENDING', next_attempt_at = $2, ended_at = NULL, attempts_made = 0,
             next_trigger = 'RESEND', leased_until = NULL
         WHERE id = $1 AND status <> 'PENDING'
           AND (SELECT e.deleted_at IS NULL FROM endpoints e WHERE e.id = deliveries.endpoint_id)",
    )
    .bind(id)
    .bind(at.unix_millis())
    .execute(session)
    .await?;
    if done == 1 {
        return Ok(());
    }
    let exists = query("SELECT 1 FROM deliveries WHERE id = $1")
        .bind(id)
        .fetch_optional(session)
        .await?;
    one_row_or(u64::from(exists.is_some()), WriteError::NotFound)?;
    Err(WriteError::Conflict)
}

/// Makes a waiting delivery due at once, with a fresh schedule. One that is being attempted stays as it is.
pub(super) async fn pending(
    session: &mut dyn Session,
    (id, at): &(DeliveryId, Timestamp),
) -> Result<(), WriteError> {
    let id = id.as_uuid();
    lock_endpoint(session, id).await?;
    let done = query(sql!(
        "UPDATE deliveries
         SET next_attempt_at = $2, attempts_made = 0, next_trigger = 'RESEND', leased_until = NULL
         WHERE id = $1 AND status || '' = 'PENDING'
           AND (leased_until IS NULL OR leased_until <= " NOW ")
           AND (SELECT e.deleted_at IS NULL AND e.paused_at IS NULL
                FROM endpoints e WHERE e.id = deliveries.endpoint_id)"
    ))
    .bind(id)
    .bind(at.unix_millis())
    .execute(session)
    .await?;
    if done == 1 {
        return Ok(());
    }
    let in_progress = query(
        "SELECT 1 FROM deliveries
         WHERE id = $1 AND status || '' = 'PENDING' AND +leased_until IS NOT NULL",
    )
    .bind(id)
    .fetch_optional(session)
    .await?;
    one_row_or(u64::from(in_progress.is_some()), WriteError::Conflict)
}

/// Locks the endpoint before the delivery, and waits for a removal of it that has begun; one that begins now waits. A
/// lock of the row that did both would make resends wait for the outcomes of deliveries.
async fn lock_endpoint(session: &mut dyn Session, delivery: &Uuid) -> Result<(), WriteError> {
    query(
        "SELECT pg_advisory_xact_lock_shared(
                    hashtextextended('endpoint of ' || d.head_office_id::TEXT, 0))
         FROM deliveries d WHERE d.id = $1",
    )
    .bind(delivery)
    .lock(session)
    .await?;
    query(
        "SELECT 1 FROM endpoints e JOIN deliveries d ON d.endpoint_id = e.id
         WHERE d.id = $1 FOR KEY SHARE OF e",
    )
    .bind(delivery)
    .lock(session)
    .await?;
    Ok(())
}

/// A selection of failed deliveries to resend.
pub(super) struct Batch {
    pub(super) company: CompanyId,
    pub(super) since: Timestamp,
    pub(super) at: Timestamp,
    pub(super) limit: u32,
}

/// Queues a batch of failed deliveries again; returns their number.
pub(super) async fn failed(session: &mut dyn Session, batch: &Batch) -> Result<u64, WriteError> {
    lock_endpoints(session, batch.company).await?;
    let done = query(sql!(
        "UPDATE deliveries
         SET status = 'PENDING', next_attempt_at = $3, ended_at = NULL, attempts_made = 0,
             next_trigger = 'RESEND', leased_until = NULL
         WHERE id IN (
             SELECT d.id FROM deliveries d
             WHERE d.head_office_id = $1 AND d.status = 'FAILED' AND d.ended_at BETWEEN $2 AND $3
               AND (SELECT e.deleted_at IS NULL FROM endpoints e WHERE e.id = d.endpoint_id)
             ORDER BY d.ended_at, d.id LIMIT $4"
        { sqlite: "", postgres: " FOR UPDATE OF d SKIP LOCKED" }
        ")"
    ))
    .bind(batch.company.as_uuid())
    .bind(batch.since.unix_millis())
    .bind(batch.at.unix_millis())
    .bind(batch.limit)
    .execute(session)
    .await?;
    Ok(done)
}

/// Does the same with the endpoints of a head office: what ended stays as it ended if its endpoint is removed first.
pub(super) async fn lock_endpoints(
    session: &mut dyn Session,
    company: CompanyId,
) -> Result<(), WriteError> {
    query(
        "SELECT pg_advisory_xact_lock_shared(hashtextextended('endpoint of ' || c.id::TEXT, 0))
         FROM companies c WHERE c.id = $1",
    )
    .bind(company.as_uuid())
    .lock(session)
    .await?;
    query("SELECT 1 FROM endpoints WHERE head_office_id = $1 AND deleted_at IS NULL FOR KEY SHARE")
        .bind(company.as_uuid())
        .lock(session)
        .await?;
    Ok(())
}
