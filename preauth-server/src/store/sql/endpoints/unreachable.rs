//! Pauses an endpoint that no longer accepts deliveries.

use preauth_core::value::{EndpointId, Timestamp};

use crate::store::error::WriteError;

use super::super::mails::pause;
use super::super::{Session, query};

/// Pauses the endpoint and mails its company, unless the endpoint is already paused, or removed.
pub(in crate::store) async fn pause(
    session: &mut dyn Session,
    endpoint: EndpointId,
    at: Timestamp,
) -> Result<(), WriteError> {
    let done = query(
        "UPDATE endpoints SET paused_at = $2
         WHERE id = $1 AND paused_at IS NULL AND +deleted_at IS NULL",
    )
    .bind(endpoint.as_uuid())
    .bind(at.unix_millis())
    .execute(session)
    .await?;
    if done == 1 {
        pause::stage(session, endpoint, at).await?;
    }
    Ok(())
}
