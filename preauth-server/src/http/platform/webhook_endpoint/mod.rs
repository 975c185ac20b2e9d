//! `/companies/{id}/webhook-endpoint`: the endpoint that receives a head office's events (contract,
//! "Endpoint registration rules").

mod rotate_secret;
mod set;
mod shape;
mod test;

use preauth_core::ErrorCode;
use preauth_core::value::CompanyId;
use salvo::async_trait;
use salvo::http::Request;

use crate::directory;
use crate::http::error::ApiError;
use crate::http::openapi::described::Described;
use crate::http::openapi::schema::Schema;
use crate::http::path_id;
use crate::http::reply::Reply;

use super::endpoint::{Endpoint, existing, ok};
use super::sections::WEBHOOK_ENDPOINTS;
use super::{PlatformApi, Refusal};

pub(super) use rotate_secret::RotateSecret;
pub(super) use set::Set;
pub(crate) use shape::{EndpointShape, EndpointWithSecret, Rotation, WantedEndpoint};
pub(super) use test::Test;

#[derive(Clone, Copy)]
pub(super) struct Find;

#[async_trait]
impl Endpoint for Find {
    fn document(&self, operation: Described) -> Described {
        operation
            .titled(WEBHOOK_ENDPOINTS, "getWebhookEndpoint", "Get the endpoint")
            .id("The id of a head office.")
            .answers(200, "The endpoint.", Schema::of::<EndpointShape>())
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let endpoint = endpoint(api, req).await?;
        Ok(ok(&EndpointShape::new(&endpoint, api.clock.now())))
    }
}

#[derive(Clone, Copy)]
pub(super) struct Delete;

#[async_trait]
impl Endpoint for Delete {
    fn document(&self, operation: Described) -> Described {
        operation
            .titled(
                WEBHOOK_ENDPOINTS,
                "deleteWebhookEndpoint",
                "Remove the endpoint",
            )
            .id("The id of a head office.")
            .note("Its pending deliveries end as FAILED.")
            .answers_empty(204, "Removed.")
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let company = path_id::record(req, CompanyId::parse)?;
        let now = api.clock.now();
        api.directory.delete_endpoint(company, now).await?;
        Ok(Reply::no_content())
    }
}

/// Events are kept from now on.
pub(super) const PAUSE: SetPaused = SetPaused { paused: true };
/// The kept events are delivered.
pub(super) const RESUME: SetPaused = SetPaused { paused: false };

#[derive(Clone, Copy)]
pub(super) struct SetPaused {
    paused: bool,
}

#[async_trait]
impl Endpoint for SetPaused {
    fn document(&self, operation: Described) -> Described {
        let operation = operation.id("The id of a head office.");
        let endpoint = Schema::of::<EndpointShape>();
        if self.paused {
            return operation
                .titled(
                    WEBHOOK_ENDPOINTS,
                    "pauseWebhookEndpoint",
                    "Keep events and deliver none",
                )
                .answers(200, "Paused.", endpoint);
        }
        operation
            .titled(
                WEBHOOK_ENDPOINTS,
                "resumeWebhookEndpoint",
                "Deliver what was kept",
            )
            .note("Refused while the endpoint has no signing secret, because its master key was given up.")
            .answers(200, "Active.", endpoint)
            .refuses(&[ErrorCode::ResourceConflict])
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let company = path_id::record(req, CompanyId::parse)?;
        let now = api.clock.now();
        let endpoint = api
            .directory
            .set_endpoint_paused(company, self.paused, now)
            .await
            .map_err(Refusal::EndpointWithoutSecret.on_conflict())?;
        Ok(ok(&EndpointShape::new(&endpoint, now)))
    }
}

/// The endpoint of the company in the path; a branch has none.
async fn endpoint(api: &PlatformApi, req: &Request) -> Result<directory::Endpoint, ApiError> {
    let company = path_id::record(req, CompanyId::parse)?;
    let found = api.directory.endpoint(company).await?;
    existing(found)
}
