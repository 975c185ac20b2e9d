//! GET /extensions/{id}.

use preauth_core::value::ExtensionId;
use salvo::async_trait;
use salvo::http::{Request, StatusCode};

use crate::http::error::ApiError;
use crate::http::path_id;
use crate::http::platform::PlatformApi;
use crate::http::platform::endpoint::Endpoint;
use crate::http::reply::Reply;

#[derive(Clone, Copy)]
pub(in crate::http::platform) struct Find;

#[async_trait]
impl Endpoint for Find {
    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let id = path_id::number(req, ExtensionId::parse)?;
        super::reply(api, StatusCode::OK, id).await
    }
}
