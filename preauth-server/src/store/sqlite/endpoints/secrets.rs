//! Signing secrets as they are kept, for those who seal them.

use preauth_core::value::{EndpointId, Timestamp};
use sqlx::SqliteConnection;
use uuid::Uuid;

use crate::directory::{KeptSecret, ResealedSecret, SealedSecret, SecretId};

use super::super::error::{Fault, WriteError};
use super::super::rows::Columns;

/// Which page of the secrets in force.
#[derive(Debug)]
pub(super) struct SecretsPage {
    pub(super) now: Timestamp,
    pub(super) after: Option<SecretId>,
    pub(super) limit: u32,
}

/// What has ended waits for its endpoint's next rotation, and is given to nobody.
pub(super) async fn in_force(
    connection: &mut SqliteConnection,
    page: &SecretsPage,
) -> Result<Vec<KeptSecret>, Fault> {
    let (endpoint, number) = page
        .after
        .map_or((EndpointId::new(Uuid::nil()), 0), |after| {
            (after.endpoint, after.number)
        });
    let rows = sqlx::query(
        "SELECT endpoint_id, number, sealed FROM endpoint_secrets
         WHERE (endpoint_id, number) > (?1, ?2) AND (valid_until IS NULL OR valid_until > ?3)
         ORDER BY endpoint_id, number LIMIT ?4",
    )
    .bind(endpoint.as_uuid().as_bytes().as_slice())
    .bind(i64::from(number))
    .bind(page.now.unix_millis())
    .bind(i64::from(page.limit))
    .fetch_all(connection)
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

/// Whoever rotated or removed a secret meanwhile was quicker: what is kept is compared.
pub(super) async fn replace(
    connection: &mut SqliteConnection,
    resealed: &Vec<ResealedSecret>,
) -> Result<u64, WriteError> {
    let mut replaced: u64 = 0;
    for ResealedSecret { kept, sealed } in resealed {
        let done = sqlx::query(
            "UPDATE endpoint_secrets SET sealed = ?4
             WHERE endpoint_id = ?1 AND number = ?2 AND sealed = ?3",
        )
        .bind(kept.id.endpoint.as_uuid().as_bytes().as_slice())
        .bind(i64::from(kept.id.number))
        .bind(kept.sealed.0.as_slice())
        .bind(sealed.0.as_slice())
        .execute(&mut *connection)
        .await?;
        replaced = replaced.saturating_add(done.rows_affected());
    }
    Ok(replaced)
}
