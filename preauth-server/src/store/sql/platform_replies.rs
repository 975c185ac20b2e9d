//! Stored replies of the platform API's idempotency keys. PostgreSQL's
//! `commit` stores those of its commits.

use preauth_core::port::{NewReply, PlatformReply};
use preauth_core::value::{IdempotencyKey, Timestamp};

use crate::store::error::{Fault, WriteError, one_row_or};
use crate::store::rows::{Columns, platform_reply};

use super::{Dialect, Session, query};

/// The reply of a key, expired or not.
pub(in crate::store) async fn find(
    session: &mut dyn Session,
    key: &IdempotencyKey,
) -> Result<Option<PlatformReply>, Fault> {
    let row = query("SELECT fingerprint, body, expires_at FROM platform_replies WHERE key = $1")
        .bind(key.as_str())
        .fetch_optional(session)
        .await?;
    Ok(row.as_ref().map(platform_reply).transpose()?)
}

/// Locks the key, if there is one, until the transaction ends, and stores its reply, also in place
/// of an expired one. A conflict when the key has a valid reply; a key that another transaction
/// holds at this moment is not waited for.
pub(in crate::store) async fn remember(
    session: &mut dyn Session,
    reply: Option<&NewReply>,
    at: Timestamp,
) -> Result<(), WriteError> {
    let Some(reply) = reply else {
        return Ok(());
    };
    if session.dialect() == Dialect::Postgres && !is_locked(session, &reply.key).await? {
        return Err(WriteError::InProgress);
    }
    let done = query(
        "INSERT INTO platform_replies (key, fingerprint, body, expires_at)
         VALUES ($1, $2, $3, $4)
         ON CONFLICT (key) DO UPDATE
         SET fingerprint = excluded.fingerprint, body = excluded.body,
             expires_at = excluded.expires_at
         WHERE platform_replies.expires_at <= $5",
    )
    .bind(reply.key.as_str())
    .bind(reply.fingerprint.as_bytes().as_slice())
    .bind(reply.body.as_str())
    .bind(at.saturating_add(reply.retention).unix_millis())
    .bind(at.unix_millis())
    .execute(session)
    .await?;
    one_row_or(done, WriteError::Conflict)
}

/// Locks the key, unless another transaction holds it. SQLite has only one writer.
async fn is_locked(session: &mut dyn Session, key: &IdempotencyKey) -> Result<bool, WriteError> {
    let row = query(
        "SELECT pg_try_advisory_xact_lock(hashtextextended('platform ' || $1::TEXT, 0)) AS locked",
    )
    .bind(key.as_str())
    .fetch_one(session)
    .await?;
    Ok(Columns::of("platform_replies", &row).raw("locked")?)
}
