//! POST /companies/{id}/webhook-endpoint/pause and /resume; both are idempotent.

use preauth_core::value::CompanyId;
use salvo::async_trait;
use salvo::http::{Request, StatusCode};

use crate::http::error::ApiError;
use crate::http::platform::PlatformApi;
use crate::http::platform::endpoint::Endpoint;
use crate::http::platform::refusal::Refusal;
use crate::http::reply::Reply;
use crate::http::{convert, path_id};

use super::shape::EndpointShape;

/// Events are kept from now on.
pub(in crate::http::platform) const PAUSE: SetPaused = SetPaused { paused: true };
/// The kept events are delivered.
pub(in crate::http::platform) const RESUME: SetPaused = SetPaused { paused: false };

#[derive(Clone, Copy)]
pub(in crate::http::platform) struct SetPaused {
    paused: bool,
}

#[async_trait]
impl Endpoint for SetPaused {
    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let company = path_id::record(req, CompanyId::parse)?;
        let now = api.clock.now();
        let endpoint = api
            .directory
            .set_endpoint_paused(company, self.paused, now)
            .await
            .map_err(Refusal::EndpointWithoutSecret.on_conflict())?;
        let body = convert::text(&EndpointShape::from(&endpoint));
        Ok(Reply::json(StatusCode::OK, body))
    }
}
