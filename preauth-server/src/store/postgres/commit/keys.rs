//! Idempotency keys that are being written by some instance at this moment.

use preauth_core::value::{CompanyId, IdempotencyKey};
use sqlx::PgConnection;

use super::super::error::WriteError;

/// Enters a key until the transaction ends. Who is too late is told so at once: waiting for the
/// first, equal requests could hold every connection there is.
pub(super) async fn enter(
    connection: &mut PgConnection,
    head_office: CompanyId,
    key: &IdempotencyKey,
) -> Result<(), WriteError> {
    // Two keys of the same hash get into each other's way for a moment, and no further.
    let is_inside: bool =
        sqlx::query_scalar("SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0))")
            .bind(format!("{head_office} {}", key.as_str()))
            .fetch_one(connection)
            .await?;
    if is_inside {
        Ok(())
    } else {
        Err(WriteError::InProgress)
    }
}
