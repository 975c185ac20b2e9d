//! Endpoints. A removed one stays in its table for the history of its deliveries.

mod changes;
mod secrets;
pub(in crate::store) mod unreachable;

use async_trait::async_trait;
use preauth_core::port::Unavailable;
use preauth_core::value::{CompanyId, EndpointId, EventTypeSet, Timestamp};

use crate::directory::{
    Abandoned, DirectoryError, Endpoint, Endpoints, KeptSecret, Replaced, ResealedSecret,
    SealedSecret, SecretId,
};
use crate::store::error::{Fault, unavailable};
use crate::store::rows::Columns;
use changes::{NewEndpoint, Pause, Rotation, Update};
use secrets::{Abandonment, SecretsPage};
pub(in crate::store) use secrets::{all_secrets, each_secret};

use super::{Database, Session, query};

#[async_trait]
impl<D: Database> Endpoints for D {
    async fn add_endpoint(
        &self,
        endpoint: &Endpoint,
        secret: &SealedSecret,
    ) -> Result<(), DirectoryError> {
        let new = NewEndpoint {
            endpoint: endpoint.clone(),
            secret: secret.clone(),
        };
        let added = self.write(new, |session, new| Box::pin(changes::insert(session, new)));
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
        let updated = self.write(update, |session, update| {
            Box::pin(changes::update(session, update))
        });
        Ok(updated.await?)
    }

    async fn endpoint(&self, company: CompanyId) -> Result<Option<Endpoint>, Unavailable> {
        let found = self.read(&company, |session, company| {
            Box::pin(of_company(session, *company))
        });
        Ok(found.await?)
    }

    async fn slow_endpoints(&self) -> Result<u32, Unavailable> {
        let counted = self.read(&(), |session, ()| Box::pin(slow(session)));
        Ok(counted.await?)
    }

    async fn secrets_in_force(
        &self,
        now: Timestamp,
        after: Option<SecretId>,
        limit: u32,
    ) -> Result<Vec<KeptSecret>, Unavailable> {
        let page = SecretsPage { now, after, limit };
        let found = self.read(&page, |session, page| {
            Box::pin(secrets::in_force(session, page))
        });
        Ok(found.await?)
    }

    async fn replace_secrets(
        &self,
        resealed: Vec<ResealedSecret>,
    ) -> Result<Replaced, Unavailable> {
        let replaced = self.write(resealed, |session, resealed| {
            Box::pin(secrets::replace(session, resealed))
        });
        replaced.await.map_err(unavailable)
    }

    async fn abandon_secrets(
        &self,
        lost: Vec<KeptSecret>,
        at: Timestamp,
    ) -> Result<Vec<Abandoned>, Unavailable> {
        let lost = Abandonment { secrets: lost, at };
        let abandoned = self.write(lost, |session, lost| {
            Box::pin(secrets::abandon(session, lost))
        });
        abandoned.await.map_err(unavailable)
    }

    async fn delete_endpoint(
        &self,
        company: CompanyId,
        at: Timestamp,
    ) -> Result<(), DirectoryError> {
        let deleted = self.write((company, at), |session, input| {
            Box::pin(changes::delete(session, input))
        });
        deleted.await?;
        self.settle_first_batch().await;
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
        let set = self.write_and_wake(pause, |session, pause| {
            Box::pin(changes::set_paused(session, pause))
        });
        let endpoint = set.await?;
        if !paused {
            self.settle_first_batch().await;
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
        let rotated = self.write(rotation, |session, rotation| {
            Box::pin(changes::rotate(session, rotation))
        });
        Ok(rotated.await?)
    }
}

async fn slow(session: &mut dyn Session) -> Result<u32, Fault> {
    let row = query(
        "SELECT count(*) AS slow FROM endpoints
         WHERE is_slow AND paused_at IS NULL AND deleted_at IS NULL",
    )
    .fetch_one(session)
    .await?;
    Ok(Columns::of("endpoints", &row).raw("slow")?)
}

/// The endpoint of a head office, unless it was removed.
async fn of_company(
    session: &mut dyn Session,
    company: CompanyId,
) -> Result<Option<Endpoint>, Fault> {
    let row = query(
        "SELECT id, head_office_id, url, events, paused_at, created_at, last_success_at,
             (SELECT max(s.valid_until) FROM endpoint_secrets s
              WHERE s.endpoint_id = e.id) AS earlier_secrets_until
         FROM endpoints e WHERE head_office_id = $1 AND deleted_at IS NULL",
    )
    .bind(company.as_uuid())
    .fetch_optional(session)
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
        earlier_secrets_until: columns.optional_timestamp("earlier_secrets_until")?,
    }))
}
