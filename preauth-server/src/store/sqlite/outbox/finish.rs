//! Ends a lease: with an attempt and its verdict, or without one.

use preauth_core::delivery::is_slow;
use preauth_core::port::{Attempt, AttemptError, Trigger, Verdict};
use preauth_core::value::{DeliveryId, EndpointId, Timestamp};
use sqlx::SqliteConnection;

use crate::store::error::WriteError;

use crate::store::sql::mails::pause;

/// An attempt under a lease, and its consequences.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) delivery: DeliveryId,
    pub(super) token: i64,
    pub(super) endpoint: EndpointId,
    /// Its state when the delivery was leased.
    pub(super) endpoint_is_slow: bool,
    pub(super) trigger: Trigger,
    pub(super) attempt: Attempt,
    pub(super) verdict: Verdict,
}

impl Finished {
    /// Whether the attempt shows how slow the endpoint is now.
    fn shows_pace(&self) -> bool {
        self.endpoint_is_slow
            || self.verdict == Verdict::Delivered
            || is_slow(self.attempt.duration)
    }
}

/// Records an attempt and its verdict, if the lease is still the delivery's newest.
pub(super) async fn finish(
    connection: &mut SqliteConnection,
    finished: &Finished,
) -> Result<bool, WriteError> {
    let at = finished.attempt.at;
    let (status, retry_at, pauses) = match finished.verdict {
        Verdict::Delivered => ("DELIVERED", None, false),
        Verdict::RetryAt { at, pause_endpoint } => ("PENDING", Some(at), pause_endpoint),
        Verdict::Failed { pause_endpoint } => ("FAILED", None, pause_endpoint),
    };
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
    if finished.shows_pace() {
        note_pace(connection, finished).await?;
    }
    if pauses {
        pause(connection, finished.endpoint, at).await?;
    }
    Ok(true)
}

/// Ends a lease without an attempt; does nothing when it is no longer the newest.
pub(super) async fn release(
    connection: &mut SqliteConnection,
    (delivery, token): &(DeliveryId, i64),
) -> Result<(), WriteError> {
    sqlx::query("UPDATE deliveries SET leased_until = NULL WHERE id = ?1 AND lease_token = ?2")
        .bind(delivery.as_uuid().as_bytes().as_slice())
        .bind(token)
        .execute(connection)
        .await?;
    Ok(())
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
    finished: &Finished,
) -> Result<(), WriteError> {
    sqlx::query("UPDATE endpoints SET is_slow = ?2 WHERE id = ?1 AND is_slow <> ?2")
        .bind(finished.endpoint.as_uuid().as_bytes().as_slice())
        .bind(is_slow(finished.attempt.duration))
        .execute(connection)
        .await?;
    Ok(())
}

/// Pauses the endpoint and mails its company, unless the endpoint is already paused, or removed.
async fn pause(
    connection: &mut SqliteConnection,
    endpoint: EndpointId,
    at: Timestamp,
) -> Result<(), WriteError> {
    let sql = "UPDATE endpoints SET paused_at = ?2
               WHERE id = ?1 AND paused_at IS NULL AND deleted_at IS NULL";
    let done = sqlx::query(sql)
        .bind(endpoint.as_uuid().as_bytes().as_slice())
        .bind(at.unix_millis())
        .execute(&mut *connection)
        .await?;
    if done.rows_affected() == 1 {
        pause::stage(connection, endpoint, at).await?;
    }
    Ok(())
}
