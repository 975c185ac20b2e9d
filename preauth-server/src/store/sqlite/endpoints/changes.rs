//! Changes of endpoints, each in one transaction.

use preauth_core::value::{CompanyId, EndpointId, EventTypeSet, Timestamp};
use sqlx::SqliteConnection;

use crate::directory::{Endpoint, SealedSecret};

use super::super::rows::set_text;
use super::of_company;
use crate::store::error::{WriteError, one_row_or};

#[derive(Debug)]
pub(super) struct NewEndpoint {
    pub(super) endpoint: Endpoint,
    pub(super) secret: SealedSecret,
}

#[derive(Debug)]
pub(super) struct Update {
    pub(super) company: CompanyId,
    pub(super) url: String,
    pub(super) events: EventTypeSet,
}

#[derive(Debug)]
pub(super) struct Pause {
    pub(super) company: CompanyId,
    pub(super) paused: bool,
    pub(super) at: Timestamp,
}

#[derive(Debug)]
pub(super) struct Rotation {
    pub(super) endpoint: EndpointId,
    pub(super) secret: SealedSecret,
    pub(super) at: Timestamp,
    pub(super) others_until: Timestamp,
}

pub(super) async fn insert(
    connection: &mut SqliteConnection,
    new: &NewEndpoint,
) -> Result<(), WriteError> {
    let endpoint = &new.endpoint;
    let done = sqlx::query(
        "INSERT INTO endpoints (id, head_office_id, url, events, paused_at, created_at,
             last_success_at)
         SELECT ?1, id, ?3, ?4, ?5, ?6, ?7 FROM companies WHERE id = ?2 AND head_office_id = id",
    )
    .bind(endpoint.id.as_uuid().as_bytes().as_slice())
    .bind(endpoint.company.as_uuid().as_bytes().as_slice())
    .bind(endpoint.url.as_str())
    .bind(set_text(endpoint.events))
    .bind(endpoint.paused_at.map(Timestamp::unix_millis))
    .bind(endpoint.created_at.unix_millis())
    .bind(endpoint.last_success_at.map(Timestamp::unix_millis))
    .execute(&mut *connection)
    .await?;
    one_row_or(done.rows_affected(), WriteError::NotFound)?;
    add_secret(connection, endpoint.id, &new.secret, endpoint.created_at).await
}

pub(super) async fn update(
    connection: &mut SqliteConnection,
    update: &Update,
) -> Result<Endpoint, WriteError> {
    sqlx::query(
        "UPDATE endpoints SET url = ?2, events = ?3
         WHERE head_office_id = ?1 AND deleted_at IS NULL",
    )
    .bind(update.company.as_uuid().as_bytes().as_slice())
    .bind(update.url.as_str())
    .bind(set_text(update.events))
    .execute(&mut *connection)
    .await?;
    existing(connection, update.company).await
}

/// Removes an endpoint with its secrets. Nothing more is sent to it; its pending deliveries are
/// settled afterwards (see `settle`).
pub(super) async fn delete(
    connection: &mut SqliteConnection,
    (company, at): &(CompanyId, Timestamp),
) -> Result<(), WriteError> {
    let endpoint = existing(connection, *company).await?.id;
    let done = sqlx::query("UPDATE endpoints SET deleted_at = ?2 WHERE id = ?1")
        .bind(endpoint.as_uuid().as_bytes().as_slice())
        .bind(at.unix_millis())
        .execute(&mut *connection)
        .await?;
    one_row_or(done.rows_affected(), WriteError::NotFound)?;
    sqlx::query("DELETE FROM endpoint_secrets WHERE endpoint_id = ?1")
        .bind(endpoint.as_uuid().as_bytes().as_slice())
        .execute(&mut *connection)
        .await?;
    Ok(())
}

pub(super) async fn set_paused(
    connection: &mut SqliteConnection,
    pause: &Pause,
) -> Result<Endpoint, WriteError> {
    let before = existing(connection, pause.company).await?;
    if before.paused_at.is_some() == pause.paused {
        return Ok(before);
    }
    if !pause.paused && !has_lasting_secret(connection, before.id).await? {
        return Err(WriteError::Conflict);
    }
    let paused_at = pause.paused.then_some(pause.at.unix_millis());
    // The kept deliveries are made due afterwards (see `settle`).
    let resumed_at = (!pause.paused).then_some(pause.at.unix_millis());
    sqlx::query("UPDATE endpoints SET paused_at = ?2, resumed_at = ?3 WHERE id = ?1")
        .bind(before.id.as_uuid().as_bytes().as_slice())
        .bind(paused_at)
        .bind(resumed_at)
        .execute(&mut *connection)
        .await?;
    existing(connection, pause.company).await
}

/// Whether it has a secret that does not end; an endpoint whose master key was abandoned has none.
async fn has_lasting_secret(
    connection: &mut SqliteConnection,
    endpoint: EndpointId,
) -> Result<bool, WriteError> {
    let found = sqlx::query(
        "SELECT 1 FROM endpoint_secrets WHERE endpoint_id = ?1 AND valid_until IS NULL LIMIT 1",
    )
    .bind(endpoint.as_uuid().as_bytes().as_slice())
    .fetch_optional(connection)
    .await?;
    Ok(found.is_some())
}

/// Adds the newest secret. The others end as scheduled, or at `others_until` if that is earlier;
/// ended secrets are deleted.
pub(super) async fn rotate(
    connection: &mut SqliteConnection,
    rotation: &Rotation,
) -> Result<(), WriteError> {
    let endpoint = rotation.endpoint;
    let found = sqlx::query("SELECT 1 FROM endpoints WHERE id = ?1 AND deleted_at IS NULL")
        .bind(endpoint.as_uuid().as_bytes().as_slice())
        .fetch_optional(&mut *connection)
        .await?;
    if found.is_none() {
        return Err(WriteError::NotFound);
    }
    sqlx::query(
        "UPDATE endpoint_secrets SET valid_until = min(coalesce(valid_until, ?2), ?2)
         WHERE endpoint_id = ?1",
    )
    .bind(endpoint.as_uuid().as_bytes().as_slice())
    .bind(rotation.others_until.unix_millis())
    .execute(&mut *connection)
    .await?;
    add_secret(connection, endpoint, &rotation.secret, rotation.at).await?;
    sqlx::query("DELETE FROM endpoint_secrets WHERE endpoint_id = ?1 AND valid_until <= ?2")
        .bind(endpoint.as_uuid().as_bytes().as_slice())
        .bind(rotation.at.unix_millis())
        .execute(connection)
        .await?;
    Ok(())
}

async fn existing(
    connection: &mut SqliteConnection,
    company: CompanyId,
) -> Result<Endpoint, WriteError> {
    of_company(connection, company)
        .await?
        .ok_or(WriteError::NotFound)
}

async fn add_secret(
    connection: &mut SqliteConnection,
    endpoint: EndpointId,
    secret: &SealedSecret,
    at: Timestamp,
) -> Result<(), WriteError> {
    sqlx::query(
        "INSERT INTO endpoint_secrets (endpoint_id, number, sealed, created_at)
         SELECT ?1, coalesce(max(number), 0) + 1, ?2, ?3
         FROM endpoint_secrets WHERE endpoint_id = ?1",
    )
    .bind(endpoint.as_uuid().as_bytes().as_slice())
    .bind(secret.0.as_slice())
    .bind(at.unix_millis())
    .execute(connection)
    .await?;
    Ok(())
}
