//! Leases of mails and of their joined mails.

use preauth_core::value::{CompanyId, MailId};

use crate::mail::{JoinedMail, LeasedMail, MAX_JOINED, MailClaim};
use crate::store::error::WriteError;
use crate::store::rows::{Columns, Corrupt};

use super::super::{Row, Session, query, sql};
use super::due_mail::DueMail;
use super::share::Opening;

/// Leases mails; returns the rows of those that were leased. An [`Opening`] marks a mail that reaches its
/// mailbox for the first time.
pub(super) async fn lease(
    session: &mut dyn Session,
    mails: &[(MailId, Option<Opening>)],
    claim: &MailClaim,
) -> Result<Vec<Row>, WriteError> {
    if mails.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<_> = mails.iter().map(|(id, _)| *id.as_uuid()).collect();
    let opened = |value: fn(Opening) -> i64| -> Vec<Option<i64>> {
        let openings = mails.iter().map(|(_, opening)| *opening);
        openings.map(|opening| opening.map(value)).collect()
    };
    let rows = query(sql!(
        "UPDATE notices
         SET lease_token = lease_token + 1, is_held = FALSE,
             opened_at = coalesce(t.opens_at, opened_at),
             opened_number = coalesce(t.opens_number, opened_number),
             leased_until = " NOW " + $2
         FROM " {
             sqlite: "(SELECT unhex(i.value) AS mail_id, a.value AS opens_at, n.value AS opens_number
                       FROM json_each($1) AS i
                       JOIN json_each($3) AS a ON a.key = i.key
                       JOIN json_each($4) AS n ON n.key = i.key) AS t
                  WHERE id = t.mail_id",
             postgres: "unnest($1::UUID[], $3::BIGINT[], $4::BIGINT[])
                            AS t (mail_id, opens_at, opens_number)
                        WHERE id = ANY (ARRAY[t.mail_id])"
         } " AND status || '' = 'PENDING'
           AND (leased_until IS NULL OR leased_until <= " NOW ")
         RETURNING id, lease_token, coalesce(variant, kind) AS kind, recipient, content, attempts_made, head_office_id"
    ))
    .bind(ids)
    .bind(claim.lease.num_milliseconds())
    .bind(opened(|it| it.at))
    .bind(opened(|it| it.number))
    .fetch_all(session)
    .await?;
    Ok(rows)
}

/// Leases the mails that are joined to a mail. Those joined before stay, except that mails of closed
/// offers are canceled. If none were joined and `takes_others` is set, other waiting mails of the head
/// office to the same mailbox are joined; they are searched after this one, which has been due for longest.
pub(super) async fn lease_joined(
    session: &mut dyn Session,
    due: &DueMail,
    claim: &MailClaim,
    takes_others: bool,
) -> Result<Vec<Row>, WriteError> {
    query(
        "UPDATE notices
         SET status = 'CANCELED', next_attempt_at = NULL, ended_at = $2, is_held = FALSE,
             leased_until = NULL, joined_to = NULL
         WHERE joined_to = $1 AND status || '' = 'PENDING'
           AND (SELECT o.status <> 'IN_PRE_AUTH' OR o.expires_at < $2 FROM operations o
                WHERE o.id = notices.operation_id)",
    )
    .bind(due.id.as_uuid())
    .bind(claim.now.unix_millis())
    .execute(session)
    .await?;
    let rows = query(sql!(
        "UPDATE notices
         SET joined_to = $1, is_held = FALSE, lease_token = lease_token + 1,
             leased_until = " NOW " + $3
         WHERE id" AMONG "
             SELECT id FROM notices WHERE joined_to = $1 AND status || '' = 'PENDING'
             UNION ALL
             SELECT id FROM (
                 SELECT n.id FROM notices n
                 WHERE $6 AND n.head_office_id = $4 AND " MAILBOX " = $5
                   AND n.status = 'PENDING' AND n.kind IN ('OFFER', 'INVITATION')
                   AND (n.next_attempt_at, n.id) > ($8, $1)
                   AND n.joined_to IS NULL AND n.leased_until IS NULL
                   AND (n.is_held OR n.next_attempt_at <= $2)
                   AND (SELECT o.status <> 'IN_PRE_AUTH' OR o.expires_at < $2 FROM operations o
                        WHERE o.id = n.operation_id) = FALSE
                   AND (SELECT 1 FROM notices j WHERE j.joined_to = n.id LIMIT 1) IS NULL
                   AND (SELECT 1 FROM notices j WHERE j.joined_to = $1 LIMIT 1) IS NULL
                 ORDER BY n.next_attempt_at, n.id LIMIT $7"
                 { sqlite: "", postgres: " FOR NO KEY UPDATE OF n SKIP LOCKED" } ") AS others" THESE
        " RETURNING id, kind, content"
    ))
    .bind(due.id.as_uuid())
    .bind(claim.now.unix_millis())
    .bind(claim.lease.num_milliseconds())
    .bind(due.head_office.as_uuid())
    .bind(&due.mailbox)
    .bind(takes_others)
    .bind(MAX_JOINED.saturating_sub(1))
    .bind(due.next_attempt_at)
    .fetch_all(session)
    .await?;
    Ok(rows)
}

pub(super) fn leased(row: &Row, joined: &[Row]) -> Result<LeasedMail, Corrupt> {
    let columns = Columns::of("notices", row);
    let mut joined: Vec<_> = joined.iter().map(self::joined).collect::<Result<_, _>>()?;
    // Their ids have the order in which they were staged.
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

fn joined(row: &Row) -> Result<JoinedMail, Corrupt> {
    let columns = Columns::of("notices", row);
    Ok(JoinedMail {
        id: MailId::new(columns.uuid("id")?),
        kind: columns.parsed("kind")?,
        content: columns.raw("content")?,
    })
}
