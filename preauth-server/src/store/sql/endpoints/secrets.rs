//! Stored signing secrets, for their encryption.

use std::collections::BTreeMap;

use preauth_core::value::{CompanyId, EndpointId, Timestamp};
use uuid::Uuid;

use crate::directory::{Abandoned, KeptSecret, Replaced, ResealedSecret, SealedSecret, SecretId};
use crate::store::backup::Secrets;
use crate::store::error::{Fault, WriteError};
use crate::store::rows::Columns;

use super::super::{Session, query, sql};

/// Number of secrets per page.
const PAGE: u32 = 500;

/// A page of the secrets in force.
#[derive(Debug)]
pub(super) struct SecretsPage {
    pub(super) now: Timestamp,
    pub(super) after: Option<SecretId>,
    pub(super) limit: u32,
}

/// Ended secrets are never returned; the endpoint's next rotation deletes them.
pub(super) async fn in_force(
    session: &mut dyn Session,
    page: &SecretsPage,
) -> Result<Vec<KeptSecret>, Fault> {
    let (endpoint, number) = page
        .after
        .map_or((EndpointId::new(Uuid::nil()), 0), |after| {
            (after.endpoint, after.number)
        });
    let rows = query(
        "SELECT endpoint_id, number, sealed FROM endpoint_secrets
         WHERE (endpoint_id, number) > ($1, $2) AND (valid_until IS NULL OR valid_until > $3)
         ORDER BY endpoint_id, number LIMIT $4",
    )
    .bind(endpoint.as_uuid())
    .bind(number)
    .bind(page.now.unix_millis())
    .bind(page.limit)
    .fetch_all(session)
    .await?;
    let kept = |row| {
        let columns = Columns::of("endpoint_secrets", row);
        Ok(KeptSecret {
            id: SecretId {
                endpoint: EndpointId::new(columns.uuid("endpoint_id")?),
                number: columns.number("number", |number| number.try_into().ok())?,
            },
            sealed: SealedSecret(columns.raw("sealed")?),
        })
    };
    rows.iter().map(kept).collect()
}

/// Passes on the secrets in force.
pub(in crate::store) async fn each_secret(
    session: &mut dyn Session,
    secrets: Secrets<'_>,
) -> Result<(), Fault> {
    let mut page = SecretsPage {
        now: secrets.now,
        after: None,
        limit: PAGE,
    };
    loop {
        let found = in_force(session, &page).await?;
        for secret in &found {
            (secrets.each)(secret);
        }
        let Some(last) = found.last() else {
            return Ok(());
        };
        page.after = Some(last.id);
    }
}

/// All secrets in force.
pub(in crate::store) async fn all_secrets(
    session: &mut dyn Session,
    now: Timestamp,
) -> Result<Vec<KeptSecret>, Fault> {
    let mut all = Vec::new();
    let each = &mut |kept: &KeptSecret| all.push(kept.clone());
    each_secret(session, Secrets { now, each }).await?;
    Ok(all)
}

/// The stored value is compared, so that a concurrent rotation or removal wins. A secret whose row is
/// locked keeps its value: a row that is locked for long would otherwise stop all others.
pub(super) async fn replace(
    session: &mut dyn Session,
    resealed: &Vec<ResealedSecret>,
) -> Result<Replaced, WriteError> {
    let mut outcome = Replaced::default();
    for ResealedSecret { kept, sealed } in resealed {
        let done = query(sql!(
            "UPDATE endpoint_secrets SET sealed = $4
             WHERE endpoint_id = $1 AND number" AMONG "
                 SELECT number FROM endpoint_secrets
                 WHERE endpoint_id = $1 AND number = $2 AND sealed = $3"
            { sqlite: "", postgres: " FOR NO KEY UPDATE SKIP LOCKED" } THESE
        ))
        .bind(kept.id.endpoint.as_uuid())
        .bind(kept.id.number)
        .bind(kept.sealed.0.as_slice())
        .bind(sealed.0.as_slice())
        .execute(session)
        .await?;
        outcome.replaced = outcome.replaced.saturating_add(done);
        if done == 0 && is_stored(session, kept).await? {
            outcome.held = outcome.held.saturating_add(1);
        }
    }
    Ok(outcome)
}

/// Whether the secret still has this value; a lock does not prevent reading it.
async fn is_stored(session: &mut dyn Session, kept: &KeptSecret) -> Result<bool, WriteError> {
    let row = query(
        "SELECT 1 FROM endpoint_secrets
         WHERE endpoint_id = $1 AND number = $2 AND sealed = $3",
    )
    .bind(kept.id.endpoint.as_uuid())
    .bind(kept.id.number)
    .bind(kept.sealed.0.as_slice())
    .fetch_optional(session)
    .await?;
    Ok(row.is_some())
}

/// Secrets that can no longer be decrypted.
#[derive(Debug)]
pub(super) struct Abandonment {
    pub(super) secrets: Vec<KeptSecret>,
    pub(super) at: Timestamp,
}

/// Ends secrets, and pauses the endpoints that are left without one.
pub(super) async fn abandon(
    session: &mut dyn Session,
    abandonment: &Abandonment,
) -> Result<Vec<Abandoned>, WriteError> {
    let mut ended: BTreeMap<EndpointId, u64> = BTreeMap::new();
    for kept in &abandonment.secrets {
        // Endpoints are always locked before other rows.
        query("SELECT 1 FROM endpoints WHERE id = $1 FOR UPDATE")
            .bind(kept.id.endpoint.as_uuid())
            .lock(session)
            .await?;
        let done = query(
            "UPDATE endpoint_secrets SET valid_until = $4
             WHERE endpoint_id = $1 AND number = $2 AND sealed = $3
                 AND (valid_until IS NULL OR valid_until > $4)",
        )
        .bind(kept.id.endpoint.as_uuid())
        .bind(kept.id.number)
        .bind(kept.sealed.0.as_slice())
        .bind(abandonment.at.unix_millis())
        .execute(session)
        .await?;
        if done > 0 {
            let count = ended.entry(kept.id.endpoint).or_default();
            *count = count.saturating_add(1);
        }
    }
    let mut all = Vec::new();
    for (endpoint, secrets) in ended {
        all.push(pause_without_secret(session, endpoint, secrets, abandonment.at).await?);
    }
    Ok(all)
}

/// An endpoint that is already paused keeps the time of its pause.
async fn pause_without_secret(
    session: &mut dyn Session,
    endpoint: EndpointId,
    secrets: u64,
    at: Timestamp,
) -> Result<Abandoned, WriteError> {
    let paused = query(
        "UPDATE endpoints SET paused_at = coalesce(paused_at, $2)
         WHERE id = $1 AND NOT EXISTS (
             SELECT 1 FROM endpoint_secrets WHERE endpoint_id = $1 AND valid_until IS NULL)",
    )
    .bind(endpoint.as_uuid())
    .bind(at.unix_millis())
    .execute(session)
    .await?;
    let row = query("SELECT head_office_id FROM endpoints WHERE id = $1")
        .bind(endpoint.as_uuid())
        .fetch_one(session)
        .await?;
    let columns = Columns::of("endpoints", &row);
    Ok(Abandoned {
        company: CompanyId::new(columns.uuid("head_office_id")?),
        secrets,
        still_signs: paused == 0,
    })
}
