//! GET /users/{id}.

use salvo::async_trait;
use salvo::http::{Request, StatusCode};

use crate::http::convert;
use crate::http::error::ApiError;
use crate::http::platform::PlatformApi;
use crate::http::platform::endpoint::Endpoint;
use crate::http::reply::Reply;

use super::shape::UserShape;

#[derive(Clone, Copy)]
pub(in crate::http::platform) struct Find;

#[async_trait]
impl Endpoint for Find {
    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let user = super::user(api, req).await?;
        let body = convert::text(&UserShape::from(&user));
        Ok(Reply::json(StatusCode::OK, body))
    }
}
