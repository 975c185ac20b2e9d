//! POST /pre-authorizations: offers a supplier an advance.

use preauth_core::service::Offered;
use preauth_core::value::Scope;
use salvo::async_trait;
use salvo::http::{Request, StatusCode};

use crate::http::caller::Caller;
use crate::http::error::ApiError;
use crate::http::reply::Reply;
use crate::http::{convert, idempotency, upload};
use crate::log;

use super::{Endpoint, IntegrationApi};

pub(super) struct Create;

#[async_trait]
impl Endpoint for Create {
    const SCOPE: Scope = Scope::PreauthWrite;

    async fn answer(
        &self,
        api: &IntegrationApi,
        caller: Caller,
        req: &mut Request,
    ) -> Result<Reply, ApiError> {
        caller.require_construction_head_office()?;
        let key = idempotency::key(req)?;
        let received = upload::receive(req, &api.files).await?;
        let mut offer = convert::offer(&received.tree, caller.head_office)?;
        if let Some(file) = &received.file {
            offer.file = Some(file.judge(&api.files).await?);
        }
        if let Some(magic) = api.magic {
            magic.judge_offer(api, &caller, &offer).await?;
        }
        if let Some(file) = &received.file {
            file.keep(&api.files).await?;
        }
        let now = api.clock.now();
        let offered = api
            .operations
            .offer(&offer, caller.actor(), key.as_ref(), now)
            .await?;
        let reply = Reply::json(StatusCode::CREATED, offered.body().to_owned());
        Ok(match &offered {
            Offered::Created { operation, .. } => {
                log::began(operation);
                reply
            }
            Offered::Replayed { .. } => idempotency::replayed(reply),
        })
    }
}
