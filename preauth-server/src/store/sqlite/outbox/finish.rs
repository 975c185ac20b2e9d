//! Ends a lease: with an attempt and its verdict, or without one.

use preauth_core::port::{AttemptError, Verdict};
use preauth_core::value::{EndpointId, Timestamp};
use sqlx::SqliteConnection;

use crate::store::error::WriteError;
use crate::store::finished::Finished;
use crate::store::sql::endpoints::unreachable;

/// Records an attempt and its verdict, if the lease is still the delivery's newest.
pub(super) async fn finish(
    connection: &mut SqliteConnection,
    finished: &Finished,
) -> Result<bool, WriteError> {
    let at = finished.attempt.at;
    let (status, retry_at) = finished.status();
    let ended_at = retry_at.is_none().then_some(at);
    let done = sqlx::query(
        "UPDATE deliveries
         SET status = ?1, next_attempt_at = ?2, ended_at = ?3, attempts_made = attempts_made + 1,
             next_trigger = 'SCHEDULE', leased_until = NULL
         WHERE id = ?4 AND lease_token = ?5 AND leased_until IS NOT NULL",
    )
    .bind(status)
    .bind(retry_at.map(Timestamp::unix_millis))
    .bind(ended_at.map(Timestamp::unix_millis))
    .bind(finished.delivery.as_uuid().as_bytes().as_slice())
    .bind(finished.token)
    .execute(&mut *connection)
    .await?;
    if done.rows_affected() == 0 {
        return Ok(false);
    }
    record(connection, finished).await?;
    if finished.verdict == Verdict::Delivered {
        note_success(connection, finished.endpoint, at).await?;
    }
    if let Some(is_slow) = finished.pace() {
        note_pace(connection, finished.endpoint, is_slow).await?;
    }
    if finished.pauses() {
        unreachable::pause(connection, finished).await?;
    }
    Ok(true)
}

async fn record(connection: &mut SqliteConnection, finished: &Finished) -> Result<(), WriteError> {
    let attempt = &finished.attempt;
    sqlx::query(
        "INSERT INTO attempts (delivery_id, number, at, duration_ms, http_status, error,
             response_body, trigger)
         SELECT ?1, coalesce(max(number), 0) + 1, ?2, ?3, ?4, ?5, ?6, ?7
         FROM attempts WHERE delivery_id = ?1",
    )
    .bind(finished.delivery.as_uuid().as_bytes().as_slice())
    .bind(attempt.at.unix_millis())
    .bind(attempt.duration.num_milliseconds().max(0))
    .bind(attempt.http_status)
    .bind(attempt.error.map(AttemptError::code))
    .bind(attempt.response_body.as_slice())
    .bind(finished.trigger.as_str())
    .execute(connection)
    .await?;
    Ok(())
}

async fn note_success(
    connection: &mut SqliteConnection,
    endpoint: EndpointId,
    at: Timestamp,
) -> Result<(), WriteError> {
    sqlx::query(
        "UPDATE endpoints SET last_success_at = max(coalesce(last_success_at, ?2), ?2)
         WHERE id = ?1",
    )
    .bind(endpoint.as_uuid().as_bytes().as_slice())
    .bind(at.unix_millis())
    .execute(connection)
    .await?;
    Ok(())
}

async fn note_pace(
    connection: &mut SqliteConnection,
    endpoint: EndpointId,
    is_slow: bool,
) -> Result<(), WriteError> {
    sqlx::query("UPDATE endpoints SET is_slow = ?2 WHERE id = ?1 AND is_slow <> ?2")
        .bind(endpoint.as_uuid().as_bytes().as_slice())
        .bind(is_slow)
        .execute(connection)
        .await?;
    Ok(())
}
