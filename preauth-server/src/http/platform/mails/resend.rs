//! POST /notices/{id}/resend: a failed mail is due again now, with a fresh schedule.

use preauth_core::value::MailId;
use salvo::async_trait;
use salvo::http::Request;

use crate::http::error::ApiError;
use crate::http::path_id;
use crate::http::platform::endpoint::Endpoint;
use crate::http::platform::{PlatformApi, Refusal};
use crate::http::reply::Reply;

#[derive(Clone, Copy)]
pub(in crate::http::platform) struct Resend;

#[async_trait]
impl Endpoint for Resend {
    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let id = path_id::record(req, MailId::parse)?;
        let resent = api.directory.resend_mail(id, api.clock.now()).await;
        resent.map_err(Refusal::MailNotResendable.on_conflict())?;
        super::reply(api, id).await
    }
}
