//! The share of each mailbox: how much of it is used, and the postponing of mails when it is used up.

use preauth_core::value::Timestamp;
use uuid::Uuid;

use crate::mail::{MailClaim, POSTPONE_BATCH_SIZE, Usage};
use crate::store::error::WriteError;
use crate::store::rows::{Columns, Corrupt, count};

use super::super::{Dialect, Row, Session, Sql, query, sql};
use super::due_mail::DueMail;

/// A mailbox that a head office reaches for the first time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Opening {
    /// When it is reached; never before the latest earlier opening of the head office.
    pub(super) at: i64,
    /// Its number among the head office's openings of the day.
    pub(super) number: i64,
}

/// The usage of a mailbox, and the opening if the mail would be the first to it.
pub(super) struct Used {
    pub(super) usage: Usage,
    pub(super) opening: Option<Opening>,
}

/// Finds the mails sent to a mailbox today, and the leased ones that may be sent. Both in one statement,
/// so that a mail that is being sent in the meantime is not missed.
///
/// None of its ranges grows with the number of mails sent before. On PostgreSQL the condition on leases is
/// written so that only its own index matches: the index of all leases keeps an entry for each lease
/// since a snapshot that is held open, the index of mailboxes has one for each mail ever. On SQLite there
/// are few leases, but perhaps many mails that wait for the mailbox. Sent mails are read in the order of
/// the index that must find them.
///
/// Mailboxes that a head office reaches for the first time are numbered, because counting them would take
/// longer the more there are. Those opened by an earlier build have no number and are counted.
///
/// A day has an end as well: what was sent while a clock was ahead does not count on every day until then.
///
/// On PostgreSQL one statement reads several mails; SQLite, which runs in this process, executes one
/// statement for each.
const USAGE: Sql = sql!(
    { sqlite: "", postgres: "SELECT u.* FROM unnest($1::TEXT[], $2::UUID[], $5::UUID[]) WITH ORDINALITY
                                 AS t (mailbox, head_office_id, mail_id, n)
                             CROSS JOIN LATERAL (" }
    "WITH sent AS MATERIALIZED (
         SELECT head_office_id FROM notices
         WHERE " MAILBOX " = " (of_each "$1" "mailbox") " AND status = 'SENT' AND joined_to IS NULL
           AND ended_at >= $3 AND ended_at < $6 AND kind <> 'ENDPOINT_PAUSED'),
     under_way AS MATERIALIZED (
         SELECT head_office_id FROM notices "
         {
             sqlite: "INDEXED BY notices_leased WHERE leased_until IS NOT NULL AND mailbox",
             postgres: "WHERE coalesce(leased_until, 0) > 0
                          AND CASE WHEN joined_to IS NULL THEN mailbox(recipient) END"
         } " = " (of_each "$1" "mailbox") "
           AND joined_to IS NULL AND kind <> 'ENDPOINT_PAUSED'),
     latest (opened_at) AS MATERIALIZED (
         SELECT opened_at FROM notices
         WHERE head_office_id = " (of_each "$2" "head_office_id") "
           AND opened_at >= $3 AND opened_at < $6 AND opened_number IS NOT NULL
         ORDER BY opened_at DESC LIMIT 1),
     numbered (latest) AS MATERIALIZED (
         SELECT coalesce(max(opened_number), 0) FROM notices
         WHERE head_office_id = " (of_each "$2" "head_office_id") "
           AND opened_at = (SELECT opened_at FROM latest))
     SELECT
         (SELECT count(*) FROM sent) AS sent,
         (SELECT count(*) FROM under_way) AS under_way,
         (SELECT count(*) FROM sent
          WHERE head_office_id = " (of_each "$2" "head_office_id") ") AS sent_by_office,
         (SELECT count(*) FROM under_way
          WHERE head_office_id = " (of_each "$2" "head_office_id") ") AS under_way_of_office,
         (SELECT 1 FROM notices
          WHERE head_office_id = " (of_each "$2" "head_office_id") "
            AND " MAILBOX " = " (of_each "$1" "mailbox") " AND status = 'SENT'
          ORDER BY next_attempt_at, id LIMIT 1) IS NULL
             AND (SELECT 1 FROM notices
                  WHERE head_office_id = " (of_each "$2" "head_office_id") "
                    AND " MAILBOX " = " (of_each "$1" "mailbox") " AND status = 'FAILED'
                  ORDER BY next_attempt_at, id LIMIT 1) IS NULL
             AS is_new,
         (SELECT opened_number FROM notices
          WHERE id = " (of_each "$5" "mail_id") "
            AND +opened_at >= $3 AND +opened_at < $6) AS own_number,
         (SELECT opened_at FROM latest) AS latest_at,
         (SELECT latest FROM numbered)
             + (SELECT count(*) FROM (
                    SELECT 1 FROM notices
                    WHERE head_office_id = " (of_each "$2" "head_office_id") "
                      AND opened_at >= coalesce((SELECT opened_at FROM latest), $3)
                      AND opened_at < $6 AND opened_number IS NULL LIMIT $4) AS of_builds_before)
             AS new_mailboxes"
    { sqlite: "", postgres: ") AS u ORDER BY t.n" }
);

/// The usage of the mails' mailboxes, in the order of the mails.
pub(super) async fn usage(
    session: &mut dyn Session,
    due: &[&DueMail],
    claim: &MailClaim,
) -> Result<Vec<Used>, WriteError> {
    let begins = claim.share.begins.unix_millis();
    let ends = claim.share.ends.unix_millis();
    let limit = claim.share.limits.new_mailboxes.get();
    let mut rows = Vec::with_capacity(due.len());
    match session.dialect() {
        _ if due.is_empty() => {}
        Dialect::Postgres => {
            let mailboxes: Vec<_> = due.iter().map(|it| it.mailbox.clone()).collect();
            let head_offices: Vec<_> = due.iter().map(|it| *it.head_office.as_uuid()).collect();
            let mails: Vec<_> = due.iter().map(|it| *it.id.as_uuid()).collect();
            let found = query(USAGE)
                .bind(mailboxes)
                .bind(head_offices)
                .bind(begins)
                .bind(limit)
                .bind(mails)
                .bind(ends);
            rows = found.fetch_all(session).await?;
        }
        Dialect::Sqlite => {
            for mail in due {
                let found = query(USAGE)
                    .bind(&mail.mailbox)
                    .bind(mail.head_office.as_uuid())
                    .bind(begins)
                    .bind(limit)
                    .bind(mail.id.as_uuid())
                    .bind(ends);
                rows.push(found.fetch_one(session).await?);
            }
        }
    }
    let used = rows.iter().map(|row| used(row, claim));
    Ok(used.collect::<Result<_, _>>()?)
}

fn used(row: &Row, claim: &MailClaim) -> Result<Used, Corrupt> {
    let columns = Columns::of("notices", row);
    let opened: i64 = columns.raw("new_mailboxes")?;
    let own: Option<i64> = columns.raw("own_number")?;
    let latest_at: Option<i64> = columns.raw("latest_at")?;
    let usage = Usage {
        sent: count(columns.raw("sent")?),
        under_way: count(columns.raw("under_way")?),
        sent_by_office: count(columns.raw("sent_by_office")?),
        under_way_of_office: count(columns.raw("under_way_of_office")?),
        is_new: columns.raw("is_new")?,
        // A mail that was attempted before keeps its number.
        new_mailboxes: count(own.map_or(opened, |own| own.saturating_sub(1))),
    };
    let opening = Opening {
        at: claim.now.unix_millis().max(latest_at.unwrap_or(i64::MIN)),
        number: opened.saturating_add(1),
    };
    let opening = (usage.is_new && own.is_none()).then_some(opening);
    Ok(Used { usage, opening })
}

impl Used {
    /// The usage after the same claim has opened `opened` other mailboxes for the head office.
    pub(super) fn after(mut self, opened: u32) -> Self {
        if let Some(opening) = &mut self.opening {
            opening.number = opening.number.saturating_add(opened.into());
            let mailboxes = &mut self.usage.new_mailboxes;
            *mailboxes = mailboxes.saturating_add(opened.into());
        }
        self
    }
}

/// Postpones due mails: of each one's head office to its mailbox, a bounded number at a time. Mails of
/// offers that close before `$3` are left: each gets a time of its own. Each of the mails has been due for
/// longest, so nothing before it is read.
const PUT_OFF: Sql = sql!(
    "UPDATE notices SET next_attempt_at = $3, is_held = TRUE
     WHERE id" AMONG
    { sqlite: "", postgres: "SELECT held.id
                             FROM unnest($1::TEXT[], $5::UUID[], $6::BIGINT[], $7::UUID[])
                                 AS t (mailbox, head_office_id, due, mail_id)
                             CROSS JOIN LATERAL (" }
    "SELECT n.id FROM notices n
     WHERE n.head_office_id = " (of_each "$5" "head_office_id") "
       AND " MAILBOX " = " (of_each "$1" "mailbox") " AND n.status = 'PENDING'
       AND (n.next_attempt_at, n.id) >= (" (of_each "$6" "due") ", " (of_each "$7" "mail_id") ")
       AND n.next_attempt_at <= $2 AND n.leased_until IS NULL
       AND n.joined_to IS NULL AND n.kind <> 'ENDPOINT_PAUSED'
       AND (n.id = " (of_each "$7" "mail_id") "
            OR coalesce((SELECT o.expires_at FROM operations o WHERE o.id = n.operation_id), $3) >= $3)
     LIMIT $4"
    { sqlite: "", postgres: " FOR UPDATE SKIP LOCKED) AS held" } THESE
    " RETURNING id"
);

/// Postpones the due mails of the head offices and mailboxes of `mails` to `later`; returns their ids. One statement on
/// PostgreSQL; on SQLite, which runs in this process, one for each.
pub(super) async fn put_off(
    session: &mut dyn Session,
    mails: &[DueMail],
    now: Timestamp,
    later: Timestamp,
) -> Result<Vec<Uuid>, WriteError> {
    let (now, later) = (now.unix_millis(), later.unix_millis());
    let mut rows = Vec::with_capacity(mails.len());
    match session.dialect() {
        Dialect::Postgres => {
            let mailboxes: Vec<_> = mails.iter().map(|it| it.mailbox.clone()).collect();
            let head_offices: Vec<_> = mails.iter().map(|it| *it.head_office.as_uuid()).collect();
            let due: Vec<_> = mails.iter().map(|it| Some(it.next_attempt_at)).collect();
            let ids: Vec<_> = mails.iter().map(|it| *it.id.as_uuid()).collect();
            let held = query(PUT_OFF)
                .bind(mailboxes)
                .bind(now)
                .bind(later)
                .bind(POSTPONE_BATCH_SIZE)
                .bind(head_offices)
                .bind(due)
                .bind(ids);
            rows = held.fetch_all(session).await?;
        }
        Dialect::Sqlite => {
            for mail in mails {
                let held = query(PUT_OFF)
                    .bind(&mail.mailbox)
                    .bind(now)
                    .bind(later)
                    .bind(POSTPONE_BATCH_SIZE)
                    .bind(mail.head_office.as_uuid())
                    .bind(mail.next_attempt_at)
                    .bind(mail.id.as_uuid());
                rows.append(&mut held.fetch_all(session).await?);
            }
        }
    }
    let ids = rows
        .iter()
        .map(|row| Columns::of("notices", row).uuid("id"));
    Ok(ids.collect::<Result<_, _>>()?)
}
