//! The register of endpoints. A removed one stays in its table for the history of its deliveries.

mod changes;

use async_trait::async_trait;
use preauth_core::port::Unavailable;
use preauth_core::value::{CompanyId, EndpointId, EventTypeSet, Timestamp};
use sqlx::PgConnection;

use crate::directory::{DirectoryError, Endpoint, Endpoints, SealedSecret};

use super::PostgresStore;
use super::error::Fault;
use super::rows::Columns;
use changes::{NewEndpoint, Pause, Rotation, Update};

#[async_trait]
impl Endpoints for PostgresStore {
    async fn add_endpoint(
        &self,
        endpoint: &Endpoint,
        secret: &SealedSecret,
    ) -> Result<(), DirectoryError> {
        let new = NewEndpoint {
            endpoint: endpoint.clone(),
            secret: secret.clone(),
        };
        let added = self.write(new, |connection, new| {
            Box::pin(changes::insert(connection, new))
        });
        Ok(added.await?)
    }

    async fn update_endpoint(
        &self,
        company: CompanyId,
        url: &str,
        events: EventTypeSet,
    ) -> Result<Endpoint, DirectoryError> {
        let update = Update {
            company,
            url: url.to_owned(),
            events,
        };
        let updated = self.write(update, |connection, update| {
            Box::pin(changes::update(connection, update))
        });
        Ok(updated.await?)
    }

    async fn endpoint(&self, company: CompanyId) -> Result<Option<Endpoint>, Unavailable> {
        let found = self.read(&company, |connection, company| {
            Box::pin(of_company(connection, *company))
        });
        Ok(found.await?)
    }

    async fn any_sealed_secret(&self) -> Result<Option<(EndpointId, SealedSecret)>, Unavailable> {
        let found = self.read(&(), |connection, ()| Box::pin(newest_secret(connection)));
        Ok(found.await?)
    }

    async fn delete_endpoint(
        &self,
        company: CompanyId,
        at: Timestamp,
    ) -> Result<(), DirectoryError> {
        let deleted = self.write((company, at), |connection, input| {
            Box::pin(changes::delete(connection, input))
        });
        Ok(deleted.await?)
    }

    async fn set_endpoint_paused(
        &self,
        company: CompanyId,
        paused: bool,
        at: Timestamp,
    ) -> Result<Endpoint, DirectoryError> {
        let pause = Pause {
            company,
            paused,
            at,
        };
        // What was kept is due again on resume.
        let set = self.write_and_wake(pause, |connection, pause| {
            Box::pin(changes::set_paused(connection, pause))
        });
        Ok(set.await?)
    }

    async fn rotate_secret(
        &self,
        endpoint: EndpointId,
        secret: &SealedSecret,
        at: Timestamp,
        others_until: Timestamp,
    ) -> Result<(), DirectoryError> {
        let rotation = Rotation {
            endpoint,
            secret: secret.clone(),
            at,
            others_until,
        };
        let rotated = self.write(rotation, |connection, rotation| {
            Box::pin(changes::rotate(connection, rotation))
        });
        Ok(rotated.await?)
    }
}

/// The secret that was added last to an endpoint that still stands.
async fn newest_secret(
    connection: &mut PgConnection,
) -> Result<Option<(EndpointId, SealedSecret)>, Fault> {
    let row = sqlx::query(
        "SELECT endpoint_secrets.endpoint_id, endpoint_secrets.sealed
         FROM endpoint_secrets JOIN endpoints ON endpoints.id = endpoint_secrets.endpoint_id
         WHERE endpoints.deleted_at IS NULL
         ORDER BY endpoint_secrets.created_at DESC LIMIT 1",
    )
    .fetch_optional(connection)
    .await?;
    let Some(row) = row else {
        return Ok(None);
    };
    let columns = Columns::of("endpoint_secrets", &row);
    let endpoint = EndpointId::new(columns.uuid("endpoint_id")?);
    Ok(Some((endpoint, SealedSecret(columns.raw("sealed")?))))
}

/// The endpoint of a head office, unless it was removed.
async fn of_company(
    connection: &mut PgConnection,
    company: CompanyId,
) -> Result<Option<Endpoint>, Fault> {
    let row = sqlx::query(
        "SELECT id, head_office_id, url, events, paused_at, created_at, last_success_at
         FROM endpoints WHERE head_office_id = $1 AND deleted_at IS NULL",
    )
    .bind(company.as_uuid())
    .fetch_optional(connection)
    .await?;
    let Some(row) = row else {
        return Ok(None);
    };
    let columns = Columns::of("endpoints", &row);
    Ok(Some(Endpoint {
        id: EndpointId::new(columns.uuid("id")?),
        company: CompanyId::new(columns.uuid("head_office_id")?),
        url: columns.raw("url")?,
        events: columns.set("events")?,
        paused_at: columns.optional_timestamp("paused_at")?,
        created_at: columns.timestamp("created_at")?,
        last_success_at: columns.optional_timestamp("last_success_at")?,
    }))
}
