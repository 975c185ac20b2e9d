//! The end of a lease: with an outcome, or without one.
//!
//! Rows are found by their ids. The conditions on lease and status are written so that no index matches
//! them: with a plan made while the table was small, such an index would be read from end to end.

use preauth_core::value::MailId;

use crate::mail::{LeasedMail, Outcome};
use crate::store::error::WriteError;

use super::super::{Session, query};

/// An attempt at a leased mail.
#[derive(Clone, Debug)]
pub(in crate::store) struct FinishedMail {
    pub(in crate::store) id: MailId,
    pub(in crate::store) token: i64,
    /// Whether other mails are joined to it. Only the holder of its newest lease adds or removes them.
    pub(in crate::store) has_joined: bool,
    pub(in crate::store) outcome: Outcome,
}

impl FinishedMail {
    pub(in crate::store) fn new(leased: &LeasedMail, outcome: &Outcome) -> Self {
        Self {
            id: leased.id,
            token: leased.token,
            has_joined: !leased.joined.is_empty(),
            outcome: outcome.clone(),
        }
    }
}

/// Records an attempt; returns whether the lease was still the mail's newest.
pub(in crate::store) async fn finish(
    session: &mut dyn Session,
    finished: &FinishedMail,
) -> Result<bool, WriteError> {
    let FinishedMail {
        id,
        token,
        has_joined,
        outcome,
    } = finished;
    let columns = outcome.columns();
    let done = query(
        "UPDATE notices
         SET status = $3, next_attempt_at = $4, ended_at = $5, last_error = $6,
             attempts_made = attempts_made + 1, leased_until = NULL
         WHERE id = $1 AND lease_token = $2 AND coalesce(leased_until, 0) > 0",
    )
    .bind(id.as_uuid())
    .bind(*token)
    .bind(columns.status)
    .bind(columns.next_attempt_at)
    .bind(columns.ended_at)
    .bind(columns.last_error)
    .execute(session)
    .await?;
    if done == 0 || !has_joined {
        return Ok(done > 0);
    }
    query(
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
    .execute(session)
    .await?;
    Ok(true)
}

/// Ends a lease without an attempt; does nothing when it is no longer the newest.
pub(in crate::store) async fn release(
    session: &mut dyn Session,
    (id, token): &(MailId, i64),
) -> Result<(), WriteError> {
    let released =
        query("UPDATE notices SET leased_until = NULL WHERE id = $1 AND lease_token = $2")
            .bind(id.as_uuid())
            .bind(*token)
            .execute(session)
            .await?;
    if released == 1 {
        query("UPDATE notices SET leased_until = NULL WHERE joined_to = $1")
            .bind(id.as_uuid())
            .execute(session)
            .await?;
    }
    Ok(())
}
