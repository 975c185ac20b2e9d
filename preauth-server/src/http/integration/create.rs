//! POST /pre-authorizations: offers a supplier an advance.

use preauth_core::ErrorCode;
use preauth_core::service::Offered;
use preauth_core::value::{IdempotencyKey, Scope};
use preauth_core::wire::header;
use salvo::async_trait;
use salvo::http::{Request, StatusCode};

use crate::http::caller::Caller;
use crate::http::error::ApiError;
use crate::http::reply::Reply;
use crate::http::{convert, upload};
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
        let key = idempotency_key(req)?;
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
            Offered::Replayed { .. } => reply.header(
                header::IDEMPOTENCY_REPLAYED,
                header::IDEMPOTENCY_REPLAYED_TRUE,
            ),
        })
    }
}

/// The caller's key, if one was sent; empty, malformed and repeated ones are refused.
fn idempotency_key(req: &Request) -> Result<Option<IdempotencyKey>, ApiError> {
    let invalid = || ApiError::new(ErrorCode::IdempotencyKeyInvalid);
    let mut headers = req.headers().get_all(header::IDEMPOTENCY_KEY).iter();
    let Some(only) = headers.next() else {
        return Ok(None);
    };
    if headers.next().is_some() {
        return Err(invalid());
    }
    let text = only.to_str().map_err(|_| invalid())?;
    IdempotencyKey::parse(text).map(Some).map_err(|_| invalid())
}
