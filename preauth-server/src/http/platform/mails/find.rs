//! GET /notices/{id}: a mail and its attempts.

use preauth_core::value::MailId;
use salvo::async_trait;
use salvo::http::Request;

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
        super::reply(api, path_id::record(req, MailId::parse)?).await
    }
}
