//! GET /operations/{id}/extensions: newest first.

use salvo::async_trait;
use salvo::http::Request;

use crate::http::error::ApiError;
use crate::http::platform::endpoint::Endpoint;
use crate::http::platform::{PlatformApi, lookup, paging};
use crate::http::reply::Reply;

use super::ExtensionShape;

#[derive(Clone, Copy)]
pub(in crate::http::platform) struct List;

#[async_trait]
impl Endpoint for List {
    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let page = paging::page(req)?;
        let operation = lookup::operation(api, req).await?;
        let found = api.directory.extensions(operation.id, page).await?;
        Ok(paging::reply(&found, page, |each| {
            ExtensionShape::from(each)
        }))
    }
}
