//! The mail that tells a company that its endpoint was given up.

use preauth_core::port::{IdSource, NoticeKind};
use preauth_core::value::{EndpointId, Timestamp};
use sqlx::SqliteConnection;

use super::super::rows::Columns;
use crate::ids::RandomIds;
use crate::notices::{MAX_RECIPIENTS, PausedEndpoint};
use crate::store::error::WriteError;

/// Stages a mail to each active user of the endpoint's company, or to its contact when it has none;
/// within the transaction that paused the endpoint.
pub(in crate::store::sqlite) async fn stage(
    connection: &mut SqliteConnection,
    endpoint: EndpointId,
    at: Timestamp,
) -> Result<(), WriteError> {
    let content = content(connection, endpoint, at).await?;
    for reader in readers(connection, endpoint).await? {
        sqlx::query(
            "INSERT INTO notices (id, head_office_id, kind, recipient, content, staged_at,
                 next_attempt_at)
             SELECT ?2, head_office_id, ?3, ?4, ?5, ?6, ?6 FROM endpoints WHERE id = ?1",
        )
        .bind(endpoint.as_uuid().as_bytes().as_slice())
        .bind(RandomIds.uuid(at).as_bytes().as_slice())
        .bind(NoticeKind::EndpointPaused.as_str())
        .bind(reader)
        .bind(&content)
        .bind(at.unix_millis())
        .execute(&mut *connection)
        .await?;
    }
    Ok(())
}

async fn content(
    connection: &mut SqliteConnection,
    endpoint: EndpointId,
    at: Timestamp,
) -> Result<String, WriteError> {
    let row = sqlx::query(
        "SELECT c.name, e.url, coalesce(e.last_success_at, e.created_at) AS healthy_at
         FROM endpoints e JOIN companies c ON c.id = e.head_office_id
         WHERE e.id = ?1",
    )
    .bind(endpoint.as_uuid().as_bytes().as_slice())
    .fetch_one(connection)
    .await?;
    let columns = Columns::of("endpoints", &row);
    let healthy_at = columns.timestamp("healthy_at")?;
    let paused = PausedEndpoint::new(columns.raw("name")?, columns.raw("url")?, healthy_at, at);
    Ok(paused.content())
}

async fn readers(
    connection: &mut SqliteConnection,
    endpoint: EndpointId,
) -> Result<Vec<String>, WriteError> {
    let rows = sqlx::query(
        "WITH company (id, contact) AS (
             SELECT c.id, c.contact_email
             FROM endpoints e JOIN companies c ON c.id = e.head_office_id
             WHERE e.id = ?1),
         known (email, created_at, id) AS (
             SELECT u.email, u.created_at, u.id FROM users u
             JOIN company c ON c.id = u.company_id WHERE u.active)
         SELECT email FROM (
             SELECT email, created_at, id FROM known
             UNION ALL
             SELECT contact, 0, id FROM company
             WHERE contact IS NOT NULL AND NOT EXISTS (SELECT 1 FROM known))
         ORDER BY created_at, id LIMIT ?2",
    )
    .bind(endpoint.as_uuid().as_bytes().as_slice())
    .bind(MAX_RECIPIENTS)
    .fetch_all(connection)
    .await?;
    let emails = rows
        .iter()
        .map(|row| Columns::of("users", row).raw("email"));
    Ok(emails.collect::<Result<_, _>>()?)
}
