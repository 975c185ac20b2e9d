//! DELETE /companies/{id}/webhook-endpoint: its pending deliveries fail.

use preauth_core::value::CompanyId;
use salvo::async_trait;
use salvo::http::Request;

use crate::http::error::ApiError;
use crate::http::path_id;
use crate::http::platform::PlatformApi;
use crate::http::platform::endpoint::Endpoint;
use crate::http::reply::Reply;

#[derive(Clone, Copy)]
pub(in crate::http::platform) struct Delete;

#[async_trait]
impl Endpoint for Delete {
    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let company = path_id::record(req, CompanyId::parse)?;
        let now = api.clock.now();
        api.directory.delete_endpoint(company, now).await?;
        Ok(Reply::no_content())
    }
}
