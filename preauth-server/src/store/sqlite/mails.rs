//! The sender's side. Due times are the service's; leases end by SQLite's own clock.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use preauth_core::port::Unavailable;
use preauth_core::value::Timestamp;
use sqlx::SqliteConnection;
use uuid::Uuid;

use crate::live::Live;
use crate::mail::{Claimed, LeasedMail, MailClaim, MailLimits, MailQueue, Outcome};
use crate::store::error::{Fault, WriteError, unavailable};
use crate::store::full_mailboxes::FullMailboxes;
use crate::store::set_aside::Unreadable;
use crate::store::sql::Row;
use crate::store::sql::mails::{self, FinishedMail, Position};

use super::SqliteStore;
use super::rows::Columns;

#[async_trait]
impl MailQueue for SqliteStore {
    async fn claim(&self, claim: &MailClaim) -> Result<Vec<Claimed>, Unavailable> {
        // A power failure may undo a lease, but its holder is lost with it.
        let input = (
            *claim,
            self.mail_turns.get(),
            Arc::clone(&self.full_mailboxes),
        );
        let claimed = self.writer.write_relaxed(input, |connection, input| {
            let (claim, office, full) = input;
            Box::pin(self::claim(connection, claim, *office, full))
        });
        let (claimed, unreadable, office) = claimed.await.map_err(unavailable)?;
        self.mail_turns.set(office);
        self.set_aside.note(unreadable);
        Ok(claimed)
    }

    async fn finish(&self, leased: &LeasedMail, outcome: &Outcome) -> Result<bool, Unavailable> {
        let finished = FinishedMail::new(leased, outcome);
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

    fn follow(&self, limits: &Live<MailLimits>) {
        self.full_mailboxes.follow(limits.clone());
    }
}

/// The head office after which the next claim begins.
#[derive(Debug, Default)]
pub(super) struct MailTurns(Mutex<Uuid>);

impl MailTurns {
    fn get(&self) -> Uuid {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, office: Uuid) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = office;
    }
}

async fn claim(
    connection: &mut SqliteConnection,
    claim: &MailClaim,
    office: Uuid,
    full: &FullMailboxes,
) -> Result<(Vec<Claimed>, Vec<Unreadable>, Uuid), WriteError> {
    let limit = usize::try_from(claim.limit).unwrap_or(usize::MAX);
    let due = mails::list(connection, claim.now, Position::default(), office, limit).await?;
    let mut rows = Vec::with_capacity(due.mails.len());
    for mail in &due.mails {
        rows.push(due_mail(connection, mail.id, claim.now).await?);
    }
    let (rows, _) = mails::one_for_each_mailbox(rows)?;
    let (mut claimed, mut unreadable) = (Vec::with_capacity(rows.len()), Vec::new());
    for step in mails::claim(connection, &rows, claim, full).await? {
        claimed.push(step.claimed);
        unreadable.extend(step.unreadable);
    }
    Ok((claimed, unreadable, due.office))
}

async fn due_mail(
    connection: &mut SqliteConnection,
    id: Uuid,
    now: Timestamp,
) -> Result<Row, WriteError> {
    let row = sqlx::query(
        "SELECT n.id, coalesce(n.variant, n.kind) AS kind, n.next_attempt_at, n.head_office_id, n.mailbox AS mailbox,
             n.is_held, n.leased_until IS NOT NULL AS has_place,
             coalesce(o.status <> 'IN_PRE_AUTH' OR o.expires_at < ?1, 0) AS is_over,
             o.expires_at AS offer_ends,
             EXISTS (SELECT 1 FROM suppressed_addresses s
                     WHERE s.mailbox = n.mailbox) AS is_suppressed,
             EXISTS (SELECT 1 FROM notices j
                     WHERE j.joined_to = n.id AND j.status = 'PENDING') AS has_joined
         FROM notices n LEFT JOIN operations o ON o.id = n.operation_id WHERE n.id = ?2",
    )
    .bind(now.unix_millis())
    .bind(id)
    .fetch_one(connection)
    .await?;
    Ok(Row::Sqlite(row))
}
