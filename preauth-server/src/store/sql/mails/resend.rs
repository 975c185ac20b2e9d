//! Makes a mail due again that failed or was not wanted.

use preauth_core::value::{MailId, Timestamp};

use crate::store::error::{WriteError, one_row_or};

use super::super::{Session, query};

/// Queues a failed mail again, or one that was not wanted, with its joined mails and a fresh schedule. A mail that was joined to
/// another becomes a mail of its own. The reason of its failure is kept until its next attempt.
pub(super) async fn one(
    session: &mut dyn Session,
    (id, at): &(MailId, Timestamp),
) -> Result<(), WriteError> {
    let id = id.as_uuid();
    let done = query(
        "UPDATE notices
         SET status = 'PENDING', next_attempt_at = $2, ended_at = NULL, attempts_made = 0,
             joined_to = NULL, is_suppressed = FALSE
         WHERE id = $1 AND (status = 'FAILED' OR is_suppressed)",
    )
    .bind(id)
    .bind(at.unix_millis())
    .execute(session)
    .await?;
    if done == 1 {
        query(
            "UPDATE notices
             SET status = 'PENDING', next_attempt_at = $2, ended_at = NULL, attempts_made = 0
             WHERE joined_to = $1 AND status || '' = 'FAILED'",
        )
        .bind(id)
        .bind(at.unix_millis())
        .execute(session)
        .await?;
        return Ok(());
    }
    let exists = query("SELECT 1 FROM notices WHERE id = $1")
        .bind(id)
        .fetch_optional(session)
        .await?;
    one_row_or(u64::from(exists.is_some()), WriteError::NotFound)?;
    Err(WriteError::Conflict)
}
