//! DELETE /api-keys/{id}: revokes a key for good; it stays in the list.

use preauth_core::value::ApiKeyId;
use salvo::async_trait;
use salvo::http::Request;

use crate::http::error::ApiError;
use crate::http::path_id;
use crate::http::platform::PlatformApi;
use crate::http::platform::endpoint::Endpoint;
use crate::http::reply::Reply;

#[derive(Clone, Copy)]
pub(in crate::http::platform) struct Revoke;

#[async_trait]
impl Endpoint for Revoke {
    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let id = path_id::record(req, ApiKeyId::parse)?;
        api.directory.revoke_api_key(id, api.clock.now()).await?;
        Ok(Reply::no_content())
    }
}
