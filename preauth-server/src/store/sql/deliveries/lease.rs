//! The end of a lease without an attempt, and attempts that take long.

use preauth_core::value::{DeliveryId, EndpointId};
use uuid::Uuid;

use crate::store::error::WriteError;

use super::super::{Session, query, sql};

/// Ends a lease; does nothing when it is no longer the newest.
pub(in crate::store) async fn release(
    session: &mut dyn Session,
    (delivery, token): &(DeliveryId, i64),
) -> Result<(), WriteError> {
    query("UPDATE deliveries SET leased_until = NULL WHERE id = $1 AND lease_token = $2")
        .bind(delivery.as_uuid())
        .bind(*token)
        .execute(session)
        .await?;
    Ok(())
}

/// Makes endpoints slow. One whose row is locked stays as it is until its attempts end.
pub(in crate::store) async fn note_slow(
    session: &mut dyn Session,
    endpoints: &[EndpointId],
) -> Result<(), WriteError> {
    let ids: Vec<Uuid> = endpoints.iter().map(|it| *it.as_uuid()).collect();
    query(sql!(
        "UPDATE endpoints SET is_slow = TRUE WHERE id" AMONG "
             SELECT id FROM endpoints WHERE id" (is_one_of "$1") " AND NOT is_slow"
        { sqlite: "", postgres: " FOR NO KEY UPDATE SKIP LOCKED" } THESE
    ))
    .bind(ids)
    .execute(session)
    .await?;
    Ok(())
}
