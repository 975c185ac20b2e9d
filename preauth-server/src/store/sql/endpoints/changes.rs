//! Changes of endpoints, each in one transaction.

use preauth_core::value::{CompanyId, EndpointId, EventTypeSet, Timestamp};

use crate::directory::{Endpoint, SealedSecret};
use crate::store::error::{WriteError, one_row_or};
use crate::store::rows::set_text;

use super::super::{Session, mails, query, sql};
use super::of_company;

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

pub(super) async fn insert(session: &mut dyn Session, new: &NewEndpoint) -> Result<(), WriteError> {
    let endpoint = &new.endpoint;
    let done = query(
        "INSERT INTO endpoints (id, head_office_id, url, events, paused_at, created_at,
             last_success_at)
         SELECT $1, id, $3, $4, $5, $6, $7 FROM companies WHERE id = $2 AND head_office_id = id",
    )
    .bind(endpoint.id.as_uuid())
    .bind(endpoint.company.as_uuid())
    .bind(endpoint.url.as_str())
    .bind(set_text(endpoint.events))
    .bind(endpoint.paused_at.map(Timestamp::unix_millis))
    .bind(endpoint.created_at.unix_millis())
    .bind(endpoint.last_success_at.map(Timestamp::unix_millis))
    .execute(session)
    .await?;
    one_row_or(done, WriteError::NotFound)?;
    add_secret(session, endpoint.id, &new.secret, endpoint.created_at).await
}

pub(super) async fn update(
    session: &mut dyn Session,
    update: &Update,
) -> Result<Endpoint, WriteError> {
    query(
        "UPDATE endpoints SET url = $2, events = $3
         WHERE head_office_id = $1 AND deleted_at IS NULL",
    )
    .bind(update.company.as_uuid())
    .bind(update.url.as_str())
    .bind(set_text(update.events))
    .execute(session)
    .await?;
    existing(session, update.company).await
}

/// Removes an endpoint with its secrets. Nothing more is sent to it; its pending deliveries are
/// settled afterwards (see `settle`). Resends wait for it, or it waits for them: what is queued again for the endpoint
/// is queued before its removal, or not at all.
pub(super) async fn delete(
    session: &mut dyn Session,
    (company, at): &(CompanyId, Timestamp),
) -> Result<(), WriteError> {
    // Not a stronger lock of the row: commits hold theirs one after the other, so that a removal would find no gap.
    query(
        "SELECT pg_advisory_xact_lock(hashtextextended('endpoint of ' || c.id::TEXT, 0))
         FROM companies c WHERE c.id = $1",
    )
    .bind(company.as_uuid())
    .lock(session)
    .await?;
    let endpoint = locked(session, *company).await?.id;
    let done = query("UPDATE endpoints SET deleted_at = $2 WHERE id = $1")
        .bind(endpoint.as_uuid())
        .bind(at.unix_millis())
        .execute(session)
        .await?;
    one_row_or(done, WriteError::NotFound)?;
    query("DELETE FROM endpoint_secrets WHERE endpoint_id = $1")
        .bind(endpoint.as_uuid())
        .execute(session)
        .await?;
    Ok(())
}

pub(super) async fn set_paused(
    session: &mut dyn Session,
    pause: &Pause,
) -> Result<Endpoint, WriteError> {
    let before = locked(session, pause.company).await?;
    if before.paused_at.is_some() == pause.paused {
        return Ok(before);
    }
    if !pause.paused && !has_lasting_secret(session, before.id).await? {
        return Err(WriteError::Conflict);
    }
    let paused_at = pause.paused.then_some(pause.at.unix_millis());
    // The kept deliveries are made due afterwards (see `settle`).
    let resumed_at = (!pause.paused).then_some(pause.at.unix_millis());
    query("UPDATE endpoints SET paused_at = $2, resumed_at = $3 WHERE id = $1")
        .bind(before.id.as_uuid())
        .bind(paused_at)
        .bind(resumed_at)
        .execute(session)
        .await?;
    if !pause.paused {
        mails::begin_anew(session, before.id, pause.at).await?;
    }
    existing(session, pause.company).await
}

/// Whether it has a secret that does not end; an endpoint whose master key was abandoned has none.
async fn has_lasting_secret(
    session: &mut dyn Session,
    endpoint: EndpointId,
) -> Result<bool, WriteError> {
    let found = query(
        "SELECT 1 FROM endpoint_secrets WHERE endpoint_id = $1 AND valid_until IS NULL LIMIT 1",
    )
    .bind(endpoint.as_uuid())
    .fetch_optional(session)
    .await?;
    Ok(found.is_some())
}

/// Adds the newest secret. The others end as scheduled, or at `others_until` if that is earlier;
/// ended secrets are deleted.
pub(super) async fn rotate(
    session: &mut dyn Session,
    rotation: &Rotation,
) -> Result<(), WriteError> {
    let endpoint = rotation.endpoint;
    let found = query(sql!("SELECT 1 FROM endpoints WHERE id = $1 AND +deleted_at IS NULL" LOCKED))
        .bind(endpoint.as_uuid())
        .fetch_optional(session)
        .await?;
    if found.is_none() {
        return Err(WriteError::NotFound);
    }
    query(
        "UPDATE endpoint_secrets
         SET valid_until = CASE WHEN valid_until < $2 THEN valid_until ELSE $2 END
         WHERE endpoint_id = $1",
    )
    .bind(endpoint.as_uuid())
    .bind(rotation.others_until.unix_millis())
    .execute(session)
    .await?;
    add_secret(session, endpoint, &rotation.secret, rotation.at).await?;
    query("DELETE FROM endpoint_secrets WHERE endpoint_id = $1 AND valid_until <= $2")
        .bind(endpoint.as_uuid())
        .bind(rotation.at.unix_millis())
        .execute(session)
        .await?;
    Ok(())
}

async fn existing(session: &mut dyn Session, company: CompanyId) -> Result<Endpoint, WriteError> {
    of_company(session, company)
        .await?
        .ok_or(WriteError::NotFound)
}

/// The endpoint, locked until the transaction ends; commits that add deliveries for it do not wait
/// for the lock. Endpoints are always locked before their deliveries, to avoid deadlocks.
async fn locked(session: &mut dyn Session, company: CompanyId) -> Result<Endpoint, WriteError> {
    query(
        "SELECT 1 FROM endpoints WHERE head_office_id = $1 AND deleted_at IS NULL FOR NO KEY UPDATE",
    )
    .bind(company.as_uuid())
    .lock(session)
    .await?;
    existing(session, company).await
}

async fn add_secret(
    session: &mut dyn Session,
    endpoint: EndpointId,
    secret: &SealedSecret,
    at: Timestamp,
) -> Result<(), WriteError> {
    query(
        "INSERT INTO endpoint_secrets (endpoint_id, number, sealed, created_at)
         SELECT $1, coalesce(max(number), 0) + 1, $2, $3
         FROM endpoint_secrets WHERE endpoint_id = $1",
    )
    .bind(endpoint.as_uuid())
    .bind(secret.0.as_slice())
    .bind(at.unix_millis())
    .execute(session)
    .await?;
    Ok(())
}
