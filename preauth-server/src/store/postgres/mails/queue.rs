//! The sender's side. Due times are the service's; leases end by PostgreSQL's own clock, the same
//! for every instance.

use std::sync::Arc;

use async_trait::async_trait;
use preauth_core::port::{MailKind, Unavailable};
use preauth_core::value::{CompanyId, MailId, Timestamp};
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};
use uuid::Uuid;

use super::super::PostgresStore;
use super::super::rows::Columns;
use super::super::session::{self, DURABLE, RELAXED};
use super::due::{self, DueMails};
use super::{finish, lease, share};
use crate::mail::{Claimed, LeasedMail, MailClaim, MailQueue, Outcome, Turn, is_counted};
use crate::store::error::{WriteError, unavailable};
use crate::store::rows::Corrupt;
use crate::store::set_aside::{LOOK_AGAIN, Unreadable};

#[async_trait]
impl MailQueue for PostgresStore {
    async fn claim(&self, claim: &MailClaim) -> Result<Claimed, Unavailable> {
        // The database's lock lets one claim after the other; a claim that waits here needs no connection.
        let _turn = self.due_mails.turn().await;
        let input = (*claim, Arc::clone(&self.due_mails));
        let claimed = session::write(&self.mails, BEGIN, input, |connection, (claim, due)| {
            Box::pin(self::claim(connection, claim, due))
        });
        let claimed = claimed.await;
        if claimed.is_err() {
            // What was taken off the list is due as before.
            self.due_mails.look_everywhere();
        }
        let (claimed, unreadable) = claimed.map_err(unavailable)?;
        self.set_aside.note(unreadable);
        Ok(claimed)
    }

    async fn finish(&self, leased: &LeasedMail, outcome: &Outcome) -> Result<bool, Unavailable> {
        let finished = (leased.id, leased.token, outcome.clone());
        session::write(&self.mails, DURABLE, finished, |connection, finished| {
            Box::pin(finish::finish(connection, finished))
        })
        .await
        .map_err(unavailable)
    }

    async fn release(&self, leased: &LeasedMail) -> Result<(), Unavailable> {
        let lease = (leased.id, leased.token);
        session::write(&self.mails, RELAXED, lease, |connection, lease| {
            Box::pin(finish::release(connection, lease))
        })
        .await
        .map_err(unavailable)?;
        self.due_mails.look_everywhere();
        Ok(())
    }

    async fn next_due(&self) -> Result<Option<Timestamp>, Unavailable> {
        let due = session::read(&self.mails, &self.due_mails, |connection, due| {
            Box::pin(due::next_due(connection, due))
        });
        Ok(due.await?)
    }
}

/// Begins a transaction in which a lease is taken. A crash of the database may undo it: its holder is
/// lost with it.
///
/// Instances take turns, so that they count each other's leases. The lock's number is arbitrary but
/// the same in every instance. The statements after it see the lease that the instance before took.
///
/// An instance that freezes or is disconnected within the transaction would keep the lock from all
/// others, so the database soon ends the transaction.
const BEGIN: &str = "BEGIN; SET LOCAL synchronous_commit = off;
     SET LOCAL idle_in_transaction_session_timeout = '2s';
     SELECT pg_advisory_xact_lock(8102650148849739778)";

/// The mail that has been due for longest, before it is known whether its turn has come.
pub(super) struct DueMail {
    pub(super) id: MailId,
    pub(super) next_attempt_at: i64,
    kind: MailKind,
    pub(super) head_office: CompanyId,
    pub(super) mailbox: String,
    /// Whether it was put off before.
    is_held: bool,
    /// A lease that ran out keeps its place in the share: nobody knows whether the mail was sent.
    has_place: bool,
    /// Whether the supplier can no longer request what it offers.
    is_over: bool,
    /// Until when the supplier can.
    offer_ends: Option<Timestamp>,
}

/// What cannot be read is set aside, so that what is due after it has its turn.
async fn claim(
    connection: &mut PgConnection,
    claim: &MailClaim,
    due: &DueMails,
) -> Result<(Claimed, Option<Unreadable>), WriteError> {
    let Some(row) = due::next(connection, claim.now, due).await? else {
        return Ok((Claimed::Nothing, None));
    };
    let claimed = match head(&row) {
        Ok(head) => claim_head(connection, &head, claim, due).await?,
        Err(cause) => Err(cause),
    };
    match claimed {
        Ok(claimed) => Ok((claimed, None)),
        Err(cause) => {
            let id = put_aside(connection, &row, claim.now).await?;
            // What went with it is due by itself.
            due.look_everywhere();
            Ok((Claimed::PutOff, Some(Unreadable::new(id, cause))))
        }
    }
}

async fn claim_head(
    connection: &mut PgConnection,
    head: &DueMail,
    claim: &MailClaim,
    due: &DueMails,
) -> Result<Result<Claimed, Corrupt>, WriteError> {
    if head.is_over {
        return Ok(Ok(cancel(connection, head, claim.now, due).await?));
    }
    let (mut takes_others, mut opening, mut new_mailboxes) = (false, None, None);
    if is_counted(head.kind) && !head.has_place {
        let used = share::usage(connection, head, claim).await?;
        match claim.turn(&used.usage, head.offer_ends) {
            Turn::At(later) => {
                due.forget(&share::put_off(connection, head, claim.now, later).await?);
                return Ok(Ok(Claimed::PutOff));
            }
            Turn::Now { is_last } => takes_others = is_last || head.is_held,
        }
        opening = used.opening;
        let is_new = used.usage.is_new;
        new_mailboxes = is_new.then(|| used.usage.new_mailboxes.saturating_add(1));
    }
    let Some(row) = lease::lease(connection, head, claim, opening).await? else {
        return Ok(Ok(Claimed::PutOff));
    };
    let joined = lease::lease_joined(connection, head, claim, takes_others).await?;
    Ok(lease::leased(&row, &joined).map(|leased| {
        Claimed::Leased(Box::new(LeasedMail {
            new_mailboxes,
            ..leased
        }))
    }))
}

/// Has a mail that cannot be read wait for a build that can; gives its id.
async fn put_aside(
    connection: &mut PgConnection,
    row: &PgRow,
    now: Timestamp,
) -> Result<String, WriteError> {
    let id: Uuid = row.try_get("id")?;
    sqlx::query("UPDATE notices SET leased_until = NULL, next_attempt_at = $2 WHERE id = $1")
        .bind(id)
        .bind(now.saturating_add(LOOK_AGAIN).unix_millis())
        .execute(&mut *connection)
        .await?;
    sqlx::query(
        "UPDATE notices SET joined_to = NULL, leased_until = NULL
         WHERE joined_to = $1 AND status || '' = 'PENDING'",
    )
    .bind(id)
    .execute(connection)
    .await?;
    Ok(id.to_string())
}

fn head(row: &PgRow) -> Result<DueMail, Corrupt> {
    let columns = Columns::of("notices", row);
    Ok(DueMail {
        id: MailId::new(columns.uuid("id")?),
        next_attempt_at: columns.raw("next_attempt_at")?,
        kind: columns.parsed("kind")?,
        head_office: CompanyId::new(columns.uuid("head_office_id")?),
        mailbox: columns.raw("mailbox")?,
        is_held: columns.raw("is_held")?,
        has_place: columns.raw("has_place")?,
        is_over: columns.raw("is_over")?,
        offer_ends: columns.optional_timestamp("offer_ends")?,
    })
}

/// Gives a mail up that nobody should read any more; the holder of its lease can no longer finish it.
async fn cancel(
    connection: &mut PgConnection,
    head: &DueMail,
    now: Timestamp,
    due: &DueMails,
) -> Result<Claimed, WriteError> {
    let done = sqlx::query(
        "UPDATE notices
         SET status = 'CANCELED', next_attempt_at = NULL, ended_at = $2, is_held = FALSE,
             leased_until = NULL
         WHERE id = $1 AND status || '' = 'PENDING'",
    )
    .bind(head.id.as_uuid())
    .bind(now.unix_millis())
    .execute(&mut *connection)
    .await?;
    // What went with it goes on without it.
    let joined = sqlx::query(
        "UPDATE notices SET joined_to = NULL, is_held = TRUE, leased_until = NULL
         WHERE joined_to = $1 AND status || '' = 'PENDING'",
    )
    .bind(head.id.as_uuid())
    .execute(connection)
    .await?;
    if joined.rows_affected() > 0 {
        due.look_everywhere();
    }
    let (id, kind) = (head.id, head.kind);
    Ok(match done.rows_affected() {
        0 => Claimed::PutOff,
        _ => Claimed::Canceled { id, kind },
    })
}
