//! GET /notices/{id}: a mail and how it fared.

use preauth_core::ErrorCode;
use preauth_core::value::NoticeId;
use salvo::async_trait;
use salvo::http::{Request, StatusCode};

use crate::http::error::ApiError;
use crate::http::platform::PlatformApi;
use crate::http::platform::resource::Endpoint;
use crate::http::reply::Reply;
use crate::http::{convert, path_id};

use super::shape::NoticeShape;

#[derive(Clone, Copy)]
pub(in crate::http::platform) struct Find;

#[async_trait]
impl Endpoint for Find {
    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let id = path_id::record(req, NoticeId::parse)?;
        let found = api.directory.notice(id).await?;
        let notice = found.ok_or(ApiError::new(ErrorCode::ResourceNotFound))?;
        let body = convert::text(&NoticeShape::from(&notice));
        Ok(Reply::json(StatusCode::OK, body))
    }
}
