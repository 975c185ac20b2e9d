//! Endpoints. A removed one stays in its table for the history of its deliveries.

mod changes;
mod secrets;
mod settle;

use async_trait::async_trait;
use preauth_core::port::Unavailable;
use preauth_core::value::{CompanyId, EndpointId, EventTypeSet, Timestamp};
use sqlx::PgConnection;

use crate::directory::{
    Abandoned, DirectoryError, Endpoint, Endpoints, KeptSecret, ResealedSecret, SealedSecret,
    SecretId,
};

use super::PostgresStore;
use super::rows::Columns;
use crate::store::error::{Fault, unavailable};
use changes::{NewEndpoint, Pause, Rotation, Update};
use secrets::{Abandonment, SecretsPage};
pub(super) use settle::settle;

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

    async fn slow_endpoints(&self) -> Result<u32, Unavailable> {
        let counted = self.read(&(), |connection, ()| Box::pin(slow(connection)));
        Ok(counted.await?)
    }

    async fn secrets_in_force(
        &self,
        now: Timestamp,
        after: Option<SecretId>,
        limit: u32,
    ) -> Result<Vec<KeptSecret>, Unavailable> {
        let page = SecretsPage { now, after, limit };
        let found = self.read(&page, |connection, page| {
            Box::pin(secrets::in_force(connection, page))
        });
        Ok(found.await?)
    }

    async fn replace_secrets(&self, resealed: Vec<ResealedSecret>) -> Result<u64, Unavailable> {
        let replaced = self.write(resealed, |connection, resealed| {
            Box::pin(secrets::replace(connection, resealed))
        });
        replaced.await.map_err(unavailable)
    }

    async fn abandon_secrets(
        &self,
        lost: Vec<KeptSecret>,
        at: Timestamp,
    ) -> Result<Vec<Abandoned>, Unavailable> {
        let lost = Abandonment { secrets: lost, at };
        let abandoned = self.write(lost, |connection, lost| {
            Box::pin(secrets::abandon(connection, lost))
        });
        abandoned.await.map_err(unavailable)
    }

    async fn delete_endpoint(
        &self,
        company: CompanyId,
        at: Timestamp,
    ) -> Result<(), DirectoryError> {
        let deleted = self.write((company, at), |connection, input| {
            Box::pin(changes::delete(connection, input))
        });
        deleted.await?;
        self.settle_at_once().await;
        Ok(())
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
        let set = self.write_and_wake(pause, |connection, pause| {
            Box::pin(changes::set_paused(connection, pause))
        });
        let endpoint = set.await?;
        if !paused {
            self.settle_at_once().await;
        }
        Ok(endpoint)
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

async fn slow(connection: &mut PgConnection) -> Result<u32, Fault> {
    let row = sqlx::query(
        "SELECT count(*) AS slow FROM endpoints
         WHERE is_slow AND paused_at IS NULL AND deleted_at IS NULL",
    )
    .fetch_one(connection)
    .await?;
    Ok(Columns::of("endpoints", &row).raw("slow")?)
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
