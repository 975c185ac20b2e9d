//! The sender's side. Due times are the service's; leases end by SQLite's own clock.

use async_trait::async_trait;
use preauth_core::port::{MailKind, Unavailable};
use preauth_core::value::{CompanyId, MailId, Timestamp};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::mail::{
    Claimed, JoinedMail, LeasedMail, MAX_JOINED, MailClaim, MailQueue, Outcome,
    POSTPONE_BATCH_SIZE, Turn, Usage, is_counted,
};
use crate::store::error::{Fault, WriteError, unavailable};
use crate::store::rows::Corrupt;
use crate::store::set_aside::{LOOK_AGAIN, Unreadable};

use super::SqliteStore;
use super::rows::{Columns, count};

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
                Box::pin(finish(connection, finished))
            })
            .await
            .map_err(unavailable)
    }

    async fn release(&self, leased: &LeasedMail) -> Result<(), Unavailable> {
        self.writer
            .write_relaxed((leased.id, leased.token), |connection, lease| {
                Box::pin(release(connection, lease))
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

/// The mail that has been due for longest, before it is known whether its turn has come.
struct DueMail {
    id: MailId,
    kind: MailKind,
    head_office: CompanyId,
    mailbox: String,
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
    connection: &mut SqliteConnection,
    claim: &MailClaim,
) -> Result<(Claimed, Option<Unreadable>), WriteError> {
    let Some(row) = next(connection, claim).await? else {
        return Ok((Claimed::Nothing, None));
    };
    let claimed = match head(&row) {
        Ok(head) => claim_head(connection, &head, claim).await?,
        Err(cause) => Err(cause),
    };
    match claimed {
        Ok(claimed) => Ok((claimed, None)),
        Err(cause) => {
            let id = put_aside(connection, &row, claim.now).await?;
            Ok((Claimed::PutOff, Some(Unreadable::new(id, cause))))
        }
    }
}

async fn claim_head(
    connection: &mut SqliteConnection,
    head: &DueMail,
    claim: &MailClaim,
) -> Result<Result<Claimed, Corrupt>, WriteError> {
    if head.is_over {
        return Ok(Ok(cancel(connection, head, claim.now).await?));
    }
    let (mut takes_others, mut opening, mut new_mailboxes) = (false, None, None);
    if is_counted(head.kind) && !head.has_place {
        let used = usage(connection, head, claim).await?;
        match claim.turn(&used.usage, head.offer_ends) {
            Turn::At(later) => {
                put_off(connection, head, claim.now, later).await?;
                return Ok(Ok(Claimed::PutOff));
            }
            Turn::Now { is_last } => takes_others = is_last || head.is_held,
        }
        opening = used.opening;
        let is_new = used.usage.is_new;
        new_mailboxes = is_new.then(|| used.usage.new_mailboxes.saturating_add(1));
    }
    let Some(row) = lease(connection, head, claim, opening).await? else {
        return Ok(Ok(Claimed::PutOff));
    };
    let joined = lease_joined(connection, head, claim, takes_others).await?;
    Ok(leased(&row, &joined).map(|leased| {
        Claimed::Leased(Box::new(LeasedMail {
            new_mailboxes,
            ..leased
        }))
    }))
}

/// Has a mail that cannot be read wait for a build that can; gives its id.
async fn put_aside(
    connection: &mut SqliteConnection,
    row: &SqliteRow,
    now: Timestamp,
) -> Result<String, WriteError> {
    let id: Vec<u8> = row.try_get("id")?;
    sqlx::query("UPDATE notices SET leased_until = NULL, next_attempt_at = ?2 WHERE id = ?1")
        .bind(&id)
        .bind(now.saturating_add(LOOK_AGAIN).unix_millis())
        .execute(&mut *connection)
        .await?;
    sqlx::query(
        "UPDATE notices SET joined_to = NULL, leased_until = NULL
         WHERE joined_to = ?1 AND status = 'PENDING'",
    )
    .bind(&id)
    .execute(connection)
    .await?;
    Ok(hex::encode(id))
}

async fn next(
    connection: &mut SqliteConnection,
    claim: &MailClaim,
) -> Result<Option<SqliteRow>, WriteError> {
    let row = sqlx::query(
        "SELECT n.id, n.kind, n.head_office_id, n.mailbox AS mailbox, n.is_held,
             n.leased_until IS NOT NULL AS has_place,
             coalesce(o.status <> 'IN_PRE_AUTH' OR o.expires_at < ?1, 0) AS is_over,
             o.expires_at AS offer_ends
         FROM notices n LEFT JOIN operations o ON o.id = n.operation_id
         WHERE n.status = 'PENDING' AND n.next_attempt_at <= ?1
           AND n.joined_to IS NULL
           AND (n.leased_until IS NULL
                OR n.leased_until <= CAST(unixepoch('subsec') * 1000 AS INTEGER))
         ORDER BY n.next_attempt_at, n.id LIMIT 1",
    )
    .bind(claim.now.unix_millis())
    .fetch_optional(connection)
    .await?;
    Ok(row)
}

fn head(row: &SqliteRow) -> Result<DueMail, Corrupt> {
    let columns = Columns::of("notices", row);
    Ok(DueMail {
        id: MailId::new(columns.uuid("id")?),
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
    connection: &mut SqliteConnection,
    head: &DueMail,
    now: Timestamp,
) -> Result<Claimed, WriteError> {
    let done = sqlx::query(
        "UPDATE notices
         SET status = 'CANCELED', next_attempt_at = NULL, ended_at = ?2, is_held = 0,
             leased_until = NULL
         WHERE id = ?1 AND status = 'PENDING'",
    )
    .bind(head.id.as_uuid().as_bytes().as_slice())
    .bind(now.unix_millis())
    .execute(&mut *connection)
    .await?;
    // What went with it goes on without it.
    sqlx::query(
        "UPDATE notices SET joined_to = NULL, is_held = 1, leased_until = NULL
         WHERE joined_to = ?1 AND status = 'PENDING'",
    )
    .bind(head.id.as_uuid().as_bytes().as_slice())
    .execute(connection)
    .await?;
    let (id, kind) = (head.id, head.kind);
    Ok(match done.rows_affected() {
        0 => Claimed::PutOff,
        _ => Claimed::Canceled { id, kind },
    })
}

/// A mailbox that a head office reaches for the first time.
#[derive(Clone, Copy, Debug)]
struct Opening {
    /// When, and never before the one that was opened last.
    at: i64,
    /// Which one of the day it is.
    number: i64,
}

/// What a mailbox was sent, and what its mail would open.
struct Used {
    usage: Usage,
    opening: Option<Opening>,
}

/// What the mailbox was sent today, and what others are leased and may be sent. In one statement, so
/// that none is overlooked while it becomes the other.
///
/// Mailboxes that were reached for the first time are numbered, because to count them would take the
/// longer the more there are. Those that a build before opened have no number, and are counted.
async fn usage(
    connection: &mut SqliteConnection,
    head: &DueMail,
    claim: &MailClaim,
) -> Result<Used, WriteError> {
    // Leases are few, unlike the mails that may wait for the mailbox.
    let row = sqlx::query(
        "WITH sent AS (
             SELECT head_office_id FROM notices
             WHERE mailbox = ?1 AND status = 'SENT' AND joined_to IS NULL
               AND ended_at >= ?3 AND kind <> 'ENDPOINT_PAUSED'),
         under_way AS (
             SELECT head_office_id FROM notices INDEXED BY notices_leased
             WHERE leased_until IS NOT NULL AND joined_to IS NULL AND mailbox = ?1
               AND kind <> 'ENDPOINT_PAUSED'),
         latest AS MATERIALIZED (
             SELECT opened_at, opened_number FROM notices
             WHERE head_office_id = ?2 AND opened_at >= ?3 AND opened_number IS NOT NULL
             ORDER BY opened_at DESC, opened_number DESC LIMIT 1)
         SELECT
             (SELECT count(*) FROM sent) AS sent,
             (SELECT count(*) FROM under_way) AS under_way,
             (SELECT count(*) FROM sent WHERE head_office_id = ?2) AS sent_by_office,
             (SELECT count(*) FROM under_way WHERE head_office_id = ?2) AS under_way_of_office,
             NOT EXISTS (SELECT 1 FROM notices
                         WHERE head_office_id = ?2 AND mailbox = ?1 AND status = 'SENT')
                 AND NOT EXISTS (SELECT 1 FROM notices
                         WHERE head_office_id = ?2 AND mailbox = ?1 AND status = 'FAILED')
                 AS is_new,
             (SELECT opened_number FROM notices WHERE id = ?5 AND opened_at >= ?3) AS own_number,
             (SELECT opened_at FROM latest) AS latest_at,
             coalesce((SELECT opened_number FROM latest), 0)
                 + (SELECT count(*) FROM (
                        SELECT 1 FROM notices
                        WHERE head_office_id = ?2
                          AND opened_at >= coalesce((SELECT opened_at FROM latest), ?3)
                          AND opened_number IS NULL LIMIT ?4) AS of_builds_before)
                 AS new_mailboxes",
    )
    .bind(&head.mailbox)
    .bind(head.head_office.as_uuid().as_bytes().as_slice())
    .bind(claim.share.begins.unix_millis())
    .bind(claim.share.limits.new_mailboxes.get())
    .bind(head.id.as_uuid().as_bytes().as_slice())
    .fetch_one(connection)
    .await?;
    let columns = Columns::of("notices", &row);
    let opened: i64 = columns.raw("new_mailboxes")?;
    let own: Option<i64> = columns.raw("own_number")?;
    let latest_at: Option<i64> = columns.raw("latest_at")?;
    let usage = Usage {
        sent: count(columns.raw("sent")?),
        under_way: count(columns.raw("under_way")?),
        sent_by_office: count(columns.raw("sent_by_office")?),
        under_way_of_office: count(columns.raw("under_way_of_office")?),
        is_new: columns.raw("is_new")?,
        // One that was tried before has its place.
        new_mailboxes: count(own.map_or(opened, |own| own.saturating_sub(1))),
    };
    let opening = Opening {
        at: claim.now.unix_millis().max(latest_at.unwrap_or(i64::MIN)),
        number: opened.saturating_add(1),
    };
    let opening = (usage.is_new && own.is_none()).then_some(opening);
    Ok(Used { usage, opening })
}

/// Postpones the mails of the head office that are due to the mailbox, a bounded number at a time.
/// Those of offers that close before `later` have a time of their own.
async fn put_off(
    connection: &mut SqliteConnection,
    head: &DueMail,
    now: Timestamp,
    later: Timestamp,
) -> Result<(), WriteError> {
    sqlx::query(
        "UPDATE notices SET next_attempt_at = ?3, is_held = 1
         WHERE id IN (SELECT n.id FROM notices n
                      WHERE n.head_office_id = ?5 AND n.mailbox = ?1 AND n.status = 'PENDING'
                        AND n.next_attempt_at <= ?2 AND n.leased_until IS NULL
                        AND n.joined_to IS NULL AND n.kind <> 'ENDPOINT_PAUSED'
                        AND (n.id = ?6
                             OR coalesce((SELECT o.expires_at FROM operations o
                                          WHERE o.id = n.operation_id), ?3) >= ?3)
                      LIMIT ?4)",
    )
    .bind(&head.mailbox)
    .bind(now.unix_millis())
    .bind(later.unix_millis())
    .bind(POSTPONE_BATCH_SIZE)
    .bind(head.head_office.as_uuid().as_bytes().as_slice())
    .bind(head.id.as_uuid().as_bytes().as_slice())
    .execute(connection)
    .await?;
    Ok(())
}

async fn lease(
    connection: &mut SqliteConnection,
    head: &DueMail,
    claim: &MailClaim,
    opening: Option<Opening>,
) -> Result<Option<SqliteRow>, WriteError> {
    let row = sqlx::query(
        "UPDATE notices
         SET lease_token = lease_token + 1, is_held = 0,
             opened_at = coalesce(?3, opened_at), opened_number = coalesce(?4, opened_number),
             leased_until = CAST(unixepoch('subsec') * 1000 AS INTEGER) + ?2
         WHERE id = ?1 AND status = 'PENDING'
         RETURNING id, lease_token, kind, recipient, content, attempts_made, head_office_id",
    )
    .bind(head.id.as_uuid().as_bytes().as_slice())
    .bind(claim.lease.num_milliseconds())
    .bind(opening.map(|it| it.at))
    .bind(opening.map(|it| it.number))
    .fetch_optional(connection)
    .await?;
    Ok(row)
}

/// Leases what goes in the mail: what went in it before, less what can no longer be requested; and at
/// its first attempt, if it takes others along, what else waits of its head office for its mailbox.
async fn lease_joined(
    connection: &mut SqliteConnection,
    head: &DueMail,
    claim: &MailClaim,
    takes_others: bool,
) -> Result<Vec<SqliteRow>, WriteError> {
    sqlx::query(
        "UPDATE notices
         SET status = 'CANCELED', next_attempt_at = NULL, ended_at = ?2, is_held = 0,
             leased_until = NULL, joined_to = NULL
         WHERE joined_to = ?1 AND status = 'PENDING'
           AND EXISTS (SELECT 1 FROM operations o WHERE o.id = notices.operation_id
                       AND (o.status <> 'IN_PRE_AUTH' OR o.expires_at < ?2))",
    )
    .bind(head.id.as_uuid().as_bytes().as_slice())
    .bind(claim.now.unix_millis())
    .execute(&mut *connection)
    .await?;
    let rows = sqlx::query(
        "UPDATE notices
         SET joined_to = ?1, is_held = 0, lease_token = lease_token + 1,
             leased_until = CAST(unixepoch('subsec') * 1000 AS INTEGER) + ?3
         WHERE id IN (
             SELECT id FROM notices WHERE joined_to = ?1 AND status = 'PENDING'
             UNION ALL
             SELECT id FROM (
                 SELECT n.id FROM notices n JOIN operations o ON o.id = n.operation_id
                 WHERE ?6 AND n.head_office_id = ?4 AND n.mailbox = ?5
                   AND n.status = 'PENDING' AND n.kind IN ('OFFER', 'INVITATION')
                   AND n.id <> ?1
                   AND n.joined_to IS NULL AND n.leased_until IS NULL
                   AND (n.is_held OR n.next_attempt_at <= ?2)
                   AND NOT (o.status <> 'IN_PRE_AUTH' OR o.expires_at < ?2)
                   AND NOT EXISTS (SELECT 1 FROM notices j WHERE j.joined_to = n.id)
                   AND NOT EXISTS (SELECT 1 FROM notices j WHERE j.joined_to = ?1)
                 ORDER BY n.next_attempt_at, n.id LIMIT ?7) AS others)
         RETURNING id, kind, content",
    )
    .bind(head.id.as_uuid().as_bytes().as_slice())
    .bind(claim.now.unix_millis())
    .bind(claim.lease.num_milliseconds())
    .bind(head.head_office.as_uuid().as_bytes().as_slice())
    .bind(&head.mailbox)
    .bind(takes_others)
    .bind(MAX_JOINED.saturating_sub(1))
    .fetch_all(connection)
    .await?;
    Ok(rows)
}

fn leased(row: &SqliteRow, joined: &[SqliteRow]) -> Result<LeasedMail, Corrupt> {
    let columns = Columns::of("notices", row);
    let mut joined: Vec<_> = joined.iter().map(self::joined).collect::<Result<_, _>>()?;
    // In the order in which they were staged.
    joined.sort_by(|one: &JoinedMail, other| one.id.as_uuid().cmp(other.id.as_uuid()));
    Ok(LeasedMail {
        id: MailId::new(columns.uuid("id")?),
        token: columns.raw("lease_token")?,
        kind: columns.parsed("kind")?,
        recipient: columns.parsed("recipient")?,
        content: columns.raw("content")?,
        attempts_made: columns.raw("attempts_made")?,
        head_office: CompanyId::new(columns.uuid("head_office_id")?),
        joined,
        new_mailboxes: None,
    })
}

fn joined(row: &SqliteRow) -> Result<JoinedMail, Corrupt> {
    let columns = Columns::of("notices", row);
    Ok(JoinedMail {
        id: MailId::new(columns.uuid("id")?),
        kind: columns.parsed("kind")?,
        content: columns.raw("content")?,
    })
}

async fn finish(
    connection: &mut SqliteConnection,
    (id, token, outcome): &(MailId, i64, Outcome),
) -> Result<bool, WriteError> {
    let columns = outcome.columns();
    let done = sqlx::query(
        "UPDATE notices
         SET status = ?3, next_attempt_at = ?4, ended_at = ?5, last_error = ?6,
             attempts_made = attempts_made + 1, leased_until = NULL
         WHERE id = ?1 AND lease_token = ?2 AND leased_until IS NOT NULL",
    )
    .bind(id.as_uuid().as_bytes().as_slice())
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
         SET status = ?2, next_attempt_at = ?3, ended_at = ?4, last_error = ?5,
             attempts_made = attempts_made + 1, leased_until = NULL
         WHERE joined_to = ?1 AND status = 'PENDING'",
    )
    .bind(id.as_uuid().as_bytes().as_slice())
    .bind(columns.status)
    .bind(columns.next_attempt_at)
    .bind(columns.ended_at)
    .bind(columns.last_error)
    .execute(connection)
    .await?;
    Ok(true)
}

async fn release(
    connection: &mut SqliteConnection,
    (id, token): &(MailId, i64),
) -> Result<(), WriteError> {
    let released =
        sqlx::query("UPDATE notices SET leased_until = NULL WHERE id = ?1 AND lease_token = ?2")
            .bind(id.as_uuid().as_bytes().as_slice())
            .bind(token)
            .execute(&mut *connection)
            .await?;
    if released.rows_affected() == 1 {
        sqlx::query("UPDATE notices SET leased_until = NULL WHERE joined_to = ?1")
            .bind(id.as_uuid().as_bytes().as_slice())
            .execute(connection)
            .await?;
    }
    Ok(())
}
