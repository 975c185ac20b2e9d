//! Ends the leases of mails that were attempted at the same time, by one statement.

use async_trait::async_trait;
use preauth_core::port::Unavailable;
use sqlx::PgConnection;
use uuid::Uuid;

use super::super::connections::Connections;
use super::super::held::Recorded;
use super::super::session::{DURABLE_NOWAIT, Failure, autocommit, write};
use crate::store::error::{WriteError, unavailable, unavailable_to_all};
use crate::store::grouping::{Limits, Serve};
use crate::store::sql::mails::{self, FinishedMail};

/// Maximum number of waiting callers, and of those per statement.
pub(in super::super) const FINISH_LIMITS: Limits = Limits {
    queue: 64,
    group: 16,
    groups: 1,
};

/// Records attempts.
#[derive(Debug)]
pub(in super::super) struct MailFinisher(pub(in super::super) Connections);

#[async_trait]
impl Serve for MailFinisher {
    type Request = FinishedMail;
    type Answer = Result<Recorded, Unavailable>;

    /// Mails that are not recorded together are recorded one by one: mails with joined mails, mails
    /// that another transaction has locked, and mails whose lease was lost.
    async fn serve(&self, group: Vec<FinishedMail>) -> Vec<Self::Answer> {
        let recorded = autocommit(&self.0, &group, |connection, group| {
            Box::pin(record(connection, group))
        });
        let recorded = match recorded.await {
            Ok(recorded) => recorded,
            Err(Failure::OfAll(error)) => return unavailable_to_all(group.len(), error),
            Err(Failure::OfSome(_) | Failure::Locked) => Vec::new(),
        };
        let mut answers = Vec::with_capacity(group.len());
        for finished in group {
            answers.push(if recorded.contains(finished.id.as_uuid()) {
                Ok(Recorded::Done)
            } else {
                self.one(finished).await
            });
        }
        answers
    }
}

impl MailFinisher {
    /// Waits for no lock that others hold, so that the next ones do not wait for it, either.
    async fn one(&self, finished: FinishedMail) -> Result<Recorded, Unavailable> {
        let recorded = write(&self.0, DURABLE_NOWAIT, finished, |connection, finished| {
            Box::pin(mails::finish(connection, finished))
        });
        match recorded.await {
            Ok(true) => Ok(Recorded::Done),
            Ok(false) => Ok(Recorded::LeaseLost),
            Err(WriteError::Locked(_)) => Ok(Recorded::Held),
            Err(error) => Err(unavailable(error)),
        }
    }
}

/// Records the attempts of mails without joined mails; returns the ids of those that were recorded.
async fn record(
    connection: &mut PgConnection,
    group: &[FinishedMail],
) -> Result<Vec<Uuid>, sqlx::Error> {
    let alone = group.iter().filter(|it| !it.has_joined);
    let alone: Vec<_> = alone.map(|it| (it, it.outcome.columns())).collect();
    if alone.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<_> = alone.iter().map(|(it, _)| *it.id.as_uuid()).collect();
    let tokens: Vec<_> = alone.iter().map(|(it, _)| it.token).collect();
    let statuses: Vec<_> = alone.iter().map(|(_, columns)| columns.status).collect();
    let next: Vec<_> = alone
        .iter()
        .map(|(_, columns)| columns.next_attempt_at)
        .collect();
    let ended: Vec<_> = alone.iter().map(|(_, columns)| columns.ended_at).collect();
    let errors: Vec<_> = alone
        .iter()
        .map(|(_, columns)| columns.last_error)
        .collect();
    sqlx::query_scalar(
        "WITH finished AS MATERIALIZED (
             SELECT n.id, t.status, t.next_attempt_at, t.ended_at, t.last_error
             FROM unnest($1::UUID[], $2::BIGINT[], $3::TEXT[], $4::BIGINT[], $5::BIGINT[], $6::TEXT[])
                 AS t (id, token, status, next_attempt_at, ended_at, last_error)
             JOIN notices n ON n.id = ANY (ARRAY[t.id])
             WHERE n.lease_token = t.token AND coalesce(n.leased_until, 0) > 0
             FOR NO KEY UPDATE OF n SKIP LOCKED)
         UPDATE notices n
         SET status = f.status, next_attempt_at = f.next_attempt_at, ended_at = f.ended_at,
             last_error = f.last_error, attempts_made = n.attempts_made + 1, leased_until = NULL
         FROM finished f WHERE n.id = ANY (ARRAY[f.id])
         RETURNING n.id",
    )
    .bind(ids)
    .bind(tokens)
    .bind(statuses)
    .bind(next)
    .bind(ended)
    .bind(errors)
    .fetch_all(connection)
    .await
}
