//! Pauses an endpoint that no longer accepts deliveries.

use crate::store::error::WriteError;
use crate::store::finished::Finished;

use super::super::mails::pause;
use super::super::{Session, query};

/// Pauses the endpoint and mails its company, unless the endpoint is already paused, or removed, or has taken another
/// delivery since this one was leased.
pub(in crate::store) async fn pause(
    session: &mut dyn Session,
    finished: &Finished,
) -> Result<(), WriteError> {
    let (endpoint, at) = (finished.endpoint, finished.attempt.at);
    let done = query(
        "UPDATE endpoints SET paused_at = $2
         WHERE id = $1 AND paused_at IS NULL AND +deleted_at IS NULL
           AND coalesce(last_success_at, created_at) <= $3",
    )
    .bind(endpoint.as_uuid())
    .bind(at.unix_millis())
    .bind(finished.endpoint_healthy_at.unix_millis())
    .execute(session)
    .await?;
    if done == 1 {
        pause::stage(session, endpoint, at).await?;
    }
    Ok(())
}
