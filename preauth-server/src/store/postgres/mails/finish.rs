//! The end of a lease: with an outcome, or without one.
//!
//! Rows are found by their ids. That they are leased, or wait, is asked in a way that no index answers:
//! one of these would be read from end to end when the table looked small as the plan was made.

use preauth_core::value::MailId;
use sqlx::PgConnection;

use crate::mail::Outcome;
use crate::store::error::WriteError;

/// Records an attempt; whether the lease was still the mail's newest.
pub(super) async fn finish(
    connection: &mut PgConnection,
    (id, token, outcome): &(MailId, i64, Outcome),
) -> Result<bool, WriteError> {
    let columns = outcome.columns();
    let done = sqlx::query(
        "UPDATE notices
         SET status = $3, next_attempt_at = $4, ended_at = $5, last_error = $6,
             attempts_made = attempts_made + 1, leased_until = NULL
         WHERE id = $1 AND lease_token = $2 AND coalesce(leased_until, 0) > 0",
    )
    .bind(id.as_uuid())
    .bind(token)
    .bind(columns.status)
    .bind(columns.next_attempt_at)
    .bind(columns.ended_at)
    .bind(columns.last_error)
    .execute(&mut *connection)
    .await?;
    if done.rows_affected() == 0 {
        return Ok(false);
    }
    sqlx::query(
        "UPDATE notices
         SET status = $2, next_attempt_at = $3, ended_at = $4, last_error = $5,
             attempts_made = attempts_made + 1, leased_until = NULL
         WHERE joined_to = $1 AND status || '' = 'PENDING'",
    )
    .bind(id.as_uuid())
    .bind(columns.status)
    .bind(columns.next_attempt_at)
    .bind(columns.ended_at)
    .bind(columns.last_error)
    .execute(connection)
    .await?;
    Ok(true)
}

pub(super) async fn release(
    connection: &mut PgConnection,
    (id, token): &(MailId, i64),
) -> Result<(), WriteError> {
    let released =
        sqlx::query("UPDATE notices SET leased_until = NULL WHERE id = $1 AND lease_token = $2")
            .bind(id.as_uuid())
            .bind(token)
            .execute(&mut *connection)
            .await?;
    if released.rows_affected() == 1 {
        sqlx::query("UPDATE notices SET leased_until = NULL WHERE joined_to = $1")
            .bind(id.as_uuid())
            .execute(connection)
            .await?;
    }
    Ok(())
}
