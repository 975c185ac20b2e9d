//! The mail to a company about its paused endpoint.

use preauth_core::port::{IdSource, MailKind};
use preauth_core::value::{EndpointId, Timestamp};

use crate::ids::RandomIds;
use crate::mail::{MAX_RECIPIENTS, PausedEndpoint};
use crate::store::error::WriteError;
use crate::store::rows::Columns;

use super::super::{Session, query};

/// Stages a mail to each active user of the endpoint's company, or to its contact if there is no such
/// user; within the transaction that pauses the endpoint.
pub(in super::super) async fn stage(
    session: &mut dyn Session,
    endpoint: EndpointId,
    at: Timestamp,
) -> Result<(), WriteError> {
    let content = content(session, endpoint, at).await?;
    stage_for_each(session, endpoint, MailKind::EndpointPaused, &content, at).await
}

/// Stages this mail to each of these readers.
pub(super) async fn stage_for_each(
    session: &mut dyn Session,
    endpoint: EndpointId,
    kind: MailKind,
    content: &str,
    at: Timestamp,
) -> Result<(), WriteError> {
    let variant = (kind != MailKind::EndpointPaused).then_some(kind.as_str());
    for reader in readers(session, endpoint).await? {
        query(
            "INSERT INTO notices (id, head_office_id, kind, variant, recipient, content,
                 staged_at, next_attempt_at)
             SELECT $2, head_office_id, $3, $7, $4, $5, $6, $6 FROM endpoints WHERE id = $1",
        )
        .bind(endpoint.as_uuid())
        .bind(RandomIds.uuid(at))
        .bind(MailKind::EndpointPaused.as_str())
        .bind(reader)
        .bind(content)
        .bind(at.unix_millis())
        .bind(variant)
        .execute(session)
        .await?;
    }
    Ok(())
}

async fn content(
    session: &mut dyn Session,
    endpoint: EndpointId,
    at: Timestamp,
) -> Result<String, WriteError> {
    let row = query(
        "SELECT c.name, e.url, coalesce(e.last_success_at, e.created_at) AS healthy_at
         FROM endpoints e JOIN companies c ON c.id = e.head_office_id
         WHERE e.id = $1",
    )
    .bind(endpoint.as_uuid())
    .fetch_one(session)
    .await?;
    let columns = Columns::of("endpoints", &row);
    let healthy_at = columns.timestamp("healthy_at")?;
    let paused = PausedEndpoint::new(columns.raw("name")?, columns.raw("url")?, healthy_at, at);
    Ok(paused.content())
}

async fn readers(
    session: &mut dyn Session,
    endpoint: EndpointId,
) -> Result<Vec<String>, WriteError> {
    let rows = query(
        "WITH company (id, contact) AS (
             SELECT c.id, c.contact_email
             FROM endpoints e JOIN companies c ON c.id = e.head_office_id
             WHERE e.id = $1),
         known (email, created_at, id) AS (
             SELECT u.email, u.created_at, u.id FROM users u
             JOIN company c ON c.id = u.company_id WHERE u.active)
         SELECT email FROM (
             SELECT email, created_at, id FROM known
             UNION ALL
             SELECT contact, CAST(0 AS BIGINT), id FROM company
             WHERE contact IS NOT NULL AND NOT EXISTS (SELECT 1 FROM known)) AS readers
         ORDER BY created_at, id LIMIT $2",
    )
    .bind(endpoint.as_uuid())
    .bind(MAX_RECIPIENTS)
    .fetch_all(session)
    .await?;
    let emails = rows
        .iter()
        .map(|row| Columns::of("users", row).raw("email"));
    Ok(emails.collect::<Result<_, _>>()?)
}
