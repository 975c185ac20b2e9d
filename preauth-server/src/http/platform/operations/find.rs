//! GET /operations/{id}: one operation with its extensions and the history of its events.

use preauth_core::port::PageRequest;
use salvo::async_trait;
use salvo::http::{Request, StatusCode};

use crate::http::convert;
use crate::http::error::ApiError;
use crate::http::platform::endpoint::Endpoint;
use crate::http::platform::{PlatformApi, lookup};
use crate::http::reply::Reply;

use super::shape::OperationShape;

/// Maximum number of extensions in this answer; their own list has pages.
const NEWEST: PageRequest = PageRequest {
    page: 1,
    limit: PageRequest::MAX_LIMIT,
};

#[derive(Clone, Copy)]
pub(in crate::http::platform) struct Find;

#[async_trait]
impl Endpoint for Find {
    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let operation = lookup::operation(api, req).await?;
        let extensions = api.directory.extensions(operation.id, NEWEST).await?;
        let file = api.directory.invoice_file(operation.id).await?;
        let history = api.queries.history(operation.id).await?;
        let shape = OperationShape::from(&operation);
        let shape = shape.with_details(&extensions.items, file.as_ref(), &history);
        Ok(Reply::json(StatusCode::OK, convert::text(&shape)))
    }
}
