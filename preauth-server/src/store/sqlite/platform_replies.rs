//! Stored replies of the platform API's idempotency keys.

use preauth_core::port::{NewReply, PlatformReply};
use preauth_core::value::{IdempotencyKey, Timestamp};
use sqlx::SqliteConnection;

use crate::store::rows::platform_reply;

use super::error::{Fault, WriteError, one_row_or};

/// The reply of a key, expired or not.
pub(super) async fn find(
    connection: &mut SqliteConnection,
    key: &IdempotencyKey,
) -> Result<Option<PlatformReply>, Fault> {
    let row =
        sqlx::query("SELECT fingerprint, body, expires_at FROM platform_replies WHERE key = ?1")
            .bind(key.as_str())
            .fetch_optional(connection)
            .await?;
    Ok(row.as_ref().map(platform_reply).transpose()?)
}

/// Stores the reply of a key, if there is one, also in place of an expired one. A conflict when the
/// key has a valid reply.
pub(super) async fn remember(
    connection: &mut SqliteConnection,
    reply: Option<&NewReply>,
    at: Timestamp,
) -> Result<(), WriteError> {
    let Some(reply) = reply else {
        return Ok(());
    };
    let done = sqlx::query(
        "INSERT INTO platform_replies (key, fingerprint, body, expires_at)
         VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (key) DO UPDATE
         SET fingerprint = excluded.fingerprint, body = excluded.body,
             expires_at = excluded.expires_at
         WHERE platform_replies.expires_at <= ?5",
    )
    .bind(reply.key.as_str())
    .bind(reply.fingerprint.as_bytes().as_slice())
    .bind(reply.body.as_str())
    .bind(at.saturating_add(reply.retention).unix_millis())
    .bind(at.unix_millis())
    .execute(connection)
    .await?;
    one_row_or(done.rows_affected(), WriteError::Conflict)
}
