//! GET /operations: all operations, most recent first.

use preauth_core::port::Viewer;
use salvo::async_trait;
use salvo::http::Request;

use crate::directory::Page;
use crate::http::error::ApiError;
use crate::http::list_query;
use crate::http::platform::endpoint::Endpoint;
use crate::http::platform::{PlatformApi, paging};
use crate::http::reply::Reply;

use super::shape::OperationShape;

#[derive(Clone, Copy)]
pub(in crate::http::platform) struct List;

#[async_trait]
impl Endpoint for List {
    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let (filter, page) = list_query::operations(req.uri().query())?;
        let found = api.queries.list(Viewer::Platform, &filter, page).await?;
        let found = Page {
            items: found.operations,
            total: found.total,
        };
        Ok(paging::reply(&found, page, |each| {
            OperationShape::from(each)
        }))
    }
}
