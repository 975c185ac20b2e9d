//! GET /operations/{id}: one operation with the history of its events.

use preauth_core::ErrorCode;
use preauth_core::port::Viewer;
use salvo::async_trait;
use salvo::http::{Request, StatusCode};

use crate::http::error::ApiError;
use crate::http::platform::PlatformApi;
use crate::http::platform::resource::Endpoint;
use crate::http::reply::Reply;
use crate::http::{convert, path_id};

use super::shape::OperationShape;

#[derive(Clone, Copy)]
pub(in crate::http::platform) struct Find;

#[async_trait]
impl Endpoint for Find {
    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let id = path_id::operation(req)?;
        let found = api.queries.find(Viewer::Platform, id).await?;
        let operation = found.ok_or(ApiError::new(ErrorCode::AnticipationNotFound))?;
        let history = api.queries.history(id).await?;
        let shape = OperationShape::from(&operation).with_history(&history);
        Ok(Reply::json(StatusCode::OK, convert::text(&shape)))
    }
}
