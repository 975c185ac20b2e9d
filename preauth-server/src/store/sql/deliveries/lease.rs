//! The end of a lease without an attempt.

use preauth_core::value::DeliveryId;

use crate::store::error::WriteError;

use super::super::{Session, query};

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
