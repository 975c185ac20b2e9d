//! Mails, and offers without a mail.

use uuid::Uuid;

use crate::store::archive::{self, Page, Stage};
use crate::store::error::Fault;

use super::super::{Session, query, sql};

/// Mails with their operations. Only for mails about an endpoint it is checked whether the head office
/// had one: no index contains the removed endpoints of a head office.
pub(super) async fn mails(
    session: &mut dyn Session,
    stage: &Stage,
    after: Uuid,
    limit: u32,
) -> Result<Page, Fault> {
    let rows = query(
        "SELECT n.id, n.head_office_id, coalesce(n.variant, n.kind) AS kind, n.operation_id, n.status, n.is_held, n.is_suppressed, n.staged_at,
             n.next_attempt_at, n.ended_at, n.attempts_made, n.last_error IS NOT NULL AS has_error,
             n.leased_until, o.id IS NOT NULL AS is_known, o.head_office_id AS offer_head_office_id,
             o.origin, o.created_at, o.status AS offer_status, o.expires_at,
             n.operation_id IS NULL
                 AND (EXISTS (SELECT 1 FROM endpoints e
                              WHERE e.head_office_id = n.head_office_id AND e.deleted_at IS NULL)
                      OR EXISTS (SELECT 1 FROM endpoints e
                                 WHERE e.head_office_id = n.head_office_id)) AS has_endpoint
         FROM notices n LEFT JOIN operations o ON o.id = n.operation_id
         WHERE n.id > $1 ORDER BY n.id LIMIT $2",
    )
    .bind(after)
    .bind(limit)
    .fetch_all(session)
    .await?;
    Ok(archive::mails(&rows, stage, limit))
}

/// Sent mails, in the order of an index except for the ids. Only those that count towards the share of a
/// mailbox are returned.
pub(super) async fn sent(
    session: &mut dyn Session,
    stage: &Stage,
    after: (&str, i64, Uuid),
    limit: u32,
) -> Result<Page, Fault> {
    let (mailbox, at, id) = after;
    let rows = query(sql!(
        "SELECT id, " MAILBOX " AS mailbox, lower(recipient) AS address, ended_at,
                kind <> 'ENDPOINT_PAUSED' AS is_counted
         FROM notices
         WHERE (" MAILBOX ", ended_at, id) > ($1, $2, $3)
           AND status = 'SENT' AND joined_to IS NULL
         ORDER BY " MAILBOX ", ended_at, id LIMIT $4"
    ))
    .bind(mailbox)
    .bind(at)
    .bind(id)
    .bind(limit)
    .fetch_all(session)
    .await?;
    Ok(archive::sent(&rows, stage, limit))
}

/// Offers without a mail, among the next operations.
pub(super) async fn offers_without_mail(
    session: &mut dyn Session,
    stage: &Stage,
    after: i64,
    limit: u32,
) -> Result<Page, Fault> {
    let rows = query(
        "SELECT o.id, o.created_at,
                o.origin = 'PRE_AUTH'
                    AND NOT EXISTS (SELECT 1 FROM notices n WHERE n.operation_id = o.id)
                    AS is_without_mail,
                (SELECT max(e.began_at) FROM erasures e WHERE e.company_id = o.supplier_id) AS erased_at
         FROM (SELECT id, created_at, origin, supplier_id FROM operations
               WHERE id > $1 ORDER BY id LIMIT $2) AS o
         ORDER BY o.id",
    )
    .bind(after)
    .bind(limit)
    .fetch_all(session)
    .await?;
    Ok(archive::offers_without_mail(&rows, stage, limit)?)
}
