//! The sender's side. Due times are the service's; leases end by SQLite's own clock.

use async_trait::async_trait;
use preauth_core::port::Unavailable;
use preauth_core::value::Timestamp;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;

use crate::mail::{Claimed, LeasedMail, MailClaim, MailQueue, Outcome};
use crate::store::error::{Fault, WriteError, unavailable};
use crate::store::set_aside::Unreadable;
use crate::store::sql::{Row, mails};

use super::SqliteStore;
use super::rows::Columns;

#[async_trait]
impl MailQueue for SqliteStore {
    async fn claim(&self, claim: &MailClaim) -> Result<Claimed, Unavailable> {
        // A lease that a power failure undoes is held by nobody any more.
        let claimed = self.writer.write_relaxed(*claim, |connection, claim| {
            Box::pin(self::claim(connection, claim))
        });
        let (claimed, unreadable) = claimed.await.map_err(unavailable)?;
        self.set_aside.note(unreadable);
        Ok(claimed)
    }

    async fn finish(&self, leased: &LeasedMail, outcome: &Outcome) -> Result<bool, Unavailable> {
        let finished = (leased.id, leased.token, outcome.clone());
        self.writer
            .write(finished, |connection, finished| {
                Box::pin(mails::finish(connection, finished))
            })
            .await
            .map_err(unavailable)
    }

    async fn release(&self, leased: &LeasedMail) -> Result<(), Unavailable> {
        self.writer
            .write_relaxed((leased.id, leased.token), |connection, lease| {
                Box::pin(mails::release(connection, lease))
            })
            .await
            .map_err(unavailable)
    }

    async fn next_due(&self) -> Result<Option<Timestamp>, Unavailable> {
        let mut reader = self.reader().await?;
        let row = sqlx::query(
            "SELECT next_attempt_at FROM notices
             WHERE status = 'PENDING' AND joined_to IS NULL
               AND (leased_until IS NULL
                    OR leased_until <= CAST(unixepoch('subsec') * 1000 AS INTEGER))
             ORDER BY next_attempt_at, id LIMIT 1",
        )
        .fetch_optional(&mut *reader)
        .await
        .map_err(Fault::from)?;
        let due = row.map(|row| Columns::of("notices", &row).timestamp("next_attempt_at"));
        Ok(due.transpose()?)
    }
}

async fn claim(
    connection: &mut SqliteConnection,
    claim: &MailClaim,
) -> Result<(Claimed, Option<Unreadable>), WriteError> {
    let Some(row) = next(connection, claim.now).await? else {
        return Ok((Claimed::Nothing, None));
    };
    let step = mails::claim(connection, &Row::Sqlite(row), claim).await?;
    Ok((step.claimed, step.unreadable))
}

/// The mail that has been due for longest by `now`, or none.
async fn next(
    connection: &mut SqliteConnection,
    now: Timestamp,
) -> Result<Option<SqliteRow>, WriteError> {
    let row = sqlx::query(
        "SELECT n.id, n.kind, n.next_attempt_at, n.head_office_id, n.mailbox AS mailbox,
             n.is_held, n.leased_until IS NOT NULL AS has_place,
             coalesce(o.status <> 'IN_PRE_AUTH' OR o.expires_at < ?1, 0) AS is_over,
             o.expires_at AS offer_ends
         FROM notices n LEFT JOIN operations o ON o.id = n.operation_id
         WHERE n.status = 'PENDING' AND n.next_attempt_at <= ?1
           AND n.joined_to IS NULL
           AND (n.leased_until IS NULL
                OR n.leased_until <= CAST(unixepoch('subsec') * 1000 AS INTEGER))
         ORDER BY n.next_attempt_at, n.id LIMIT 1",
    )
    .bind(now.unix_millis())
    .fetch_optional(connection)
    .await?;
    Ok(row)
}
