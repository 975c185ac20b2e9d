//! What one mailbox has had of its share, and what waits when it has had all of it.

use preauth_core::value::Timestamp;
use uuid::Uuid;

use crate::mail::{MailClaim, POSTPONE_BATCH_SIZE, Usage};
use crate::store::error::WriteError;
use crate::store::rows::{Columns, count};

use super::super::{Session, Sql, query, sql};
use super::due_mail::DueMail;

/// A mailbox that a head office reaches for the first time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Opening {
    /// When, and never before the one that was opened last.
    pub(super) at: i64,
    /// Which one of the day it is.
    pub(super) number: i64,
}

/// What a mailbox was sent, and what its mail would open.
pub(super) struct Used {
    pub(super) usage: Usage,
    pub(super) opening: Option<Opening>,
}

/// What the mailbox was sent today, and what others are leased and may be sent. In one statement, so
/// that none is overlooked while it becomes the other.
///
/// None of its ranges grows with what was sent before. On PostgreSQL leases are asked for in a way that
/// the index of all leases does not answer, because behind a snapshot that is held open it has an entry
/// for each since; on SQLite leases are few, unlike the mails that may wait for the mailbox.
///
/// Mailboxes that were reached for the first time are numbered, because to count them would take the
/// longer the more there are. Those that a build before opened have no number, and are counted.
const USAGE: Sql = sql!(
    "WITH sent AS MATERIALIZED (
         SELECT head_office_id FROM notices
         WHERE " MAILBOX " = $1 AND status = 'SENT' AND joined_to IS NULL
           AND ended_at >= $3 AND kind <> 'ENDPOINT_PAUSED'),
     under_way AS MATERIALIZED (
         SELECT head_office_id FROM notices "
         {
             sqlite: "INDEXED BY notices_leased WHERE leased_until IS NOT NULL",
             postgres: "WHERE coalesce(leased_until, 0) > 0"
         }
         " AND " MAILBOX " = $1 AND joined_to IS NULL AND kind <> 'ENDPOINT_PAUSED'),
     latest AS MATERIALIZED (
         SELECT opened_at, opened_number FROM notices
         WHERE head_office_id = $2 AND opened_at >= $3 AND opened_number IS NOT NULL
         ORDER BY opened_at DESC, opened_number DESC LIMIT 1)
     SELECT
         (SELECT count(*) FROM sent) AS sent,
         (SELECT count(*) FROM under_way) AS under_way,
         (SELECT count(*) FROM sent WHERE head_office_id = $2) AS sent_by_office,
         (SELECT count(*) FROM under_way WHERE head_office_id = $2) AS under_way_of_office,
         NOT EXISTS (SELECT 1 FROM notices
                     WHERE head_office_id = $2 AND " MAILBOX " = $1 AND status = 'SENT')
             AND NOT EXISTS (SELECT 1 FROM notices
                     WHERE head_office_id = $2 AND " MAILBOX " = $1 AND status = 'FAILED')
             AS is_new,
         (SELECT opened_number FROM notices WHERE id = $5 AND opened_at >= $3) AS own_number,
         (SELECT opened_at FROM latest) AS latest_at,
         coalesce((SELECT opened_number FROM latest), 0)
             + (SELECT count(*) FROM (
                    SELECT 1 FROM notices
                    WHERE head_office_id = $2
                      AND opened_at >= coalesce((SELECT opened_at FROM latest), $3)
                      AND opened_number IS NULL LIMIT $4) AS of_builds_before)
             AS new_mailboxes"
);

pub(super) async fn usage(
    session: &mut dyn Session,
    due: &DueMail,
    claim: &MailClaim,
) -> Result<Used, WriteError> {
    let row = query(USAGE)
        .bind(&due.mailbox)
        .bind(due.head_office.as_uuid())
        .bind(claim.share.begins.unix_millis())
        .bind(claim.share.limits.new_mailboxes.get())
        .bind(due.id.as_uuid())
        .fetch_one(session)
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

/// Postpones the mails of the head office that are due to the mailbox, a bounded number at a time;
/// returns which. Those of offers that close before `later` have a time of their own. `due` has been
/// due for longest, so nothing before it is read.
pub(super) async fn put_off(
    session: &mut dyn Session,
    due: &DueMail,
    now: Timestamp,
    later: Timestamp,
) -> Result<Vec<Uuid>, WriteError> {
    let rows = query(sql!(
        "UPDATE notices SET next_attempt_at = $3, is_held = TRUE
         WHERE id" AMONG "SELECT n.id FROM notices n
                          WHERE n.head_office_id = $5 AND " MAILBOX " = $1
                            AND n.status = 'PENDING'
                            AND (n.next_attempt_at, n.id) >= ($6, $7) AND n.next_attempt_at <= $2
                            AND n.leased_until IS NULL
                            AND n.joined_to IS NULL AND n.kind <> 'ENDPOINT_PAUSED'
                            AND (n.id = $7
                                 OR coalesce((SELECT o.expires_at FROM operations o
                                              WHERE o.id = n.operation_id), $3) >= $3)
                          LIMIT $4" SKIP_LOCKED
        " RETURNING id"
    ))
    .bind(&due.mailbox)
    .bind(now.unix_millis())
    .bind(later.unix_millis())
    .bind(POSTPONE_BATCH_SIZE)
    .bind(due.head_office.as_uuid())
    .bind(due.next_attempt_at)
    .bind(due.id.as_uuid())
    .fetch_all(session)
    .await?;
    let ids = rows
        .iter()
        .map(|row| Columns::of("notices", row).uuid("id"));
    Ok(ids.collect::<Result<_, _>>()?)
}
