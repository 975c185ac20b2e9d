//! GET /companies/{id}/api-keys: newest first, revoked and expired ones included.

use salvo::async_trait;
use salvo::http::Request;

use crate::http::error::ApiError;
use crate::http::platform::endpoint::Endpoint;
use crate::http::platform::{PlatformApi, lookup, paging};
use crate::http::reply::Reply;

use super::shape::ApiKeyShape;

#[derive(Clone, Copy)]
pub(in crate::http::platform) struct List;

#[async_trait]
impl Endpoint for List {
    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let page = paging::page(req)?;
        let company = lookup::company(api, req).await?;
        let found = api.directory.api_keys(company.id, page).await?;
        let now = api.clock.now();
        Ok(paging::reply(&found, page, |key| {
            ApiKeyShape::new(key, now)
        }))
    }
}
