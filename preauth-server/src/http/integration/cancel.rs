//! POST /pre-authorizations/{id}/cancel: cancels an offer before the supplier requests it.

use preauth_core::operation::Command;
use preauth_core::value::Scope;
use salvo::async_trait;
use salvo::http::{Request, StatusCode};

use crate::http::caller::Caller;
use crate::http::error::ApiError;
use crate::http::reply::Reply;
use crate::http::{convert, path_id};
use crate::log;

use super::{Endpoint, IntegrationApi};

pub(super) struct Cancel;

#[async_trait]
impl Endpoint for Cancel {
    const SCOPE: Scope = Scope::PreauthWrite;

    async fn answer(
        &self,
        api: &IntegrationApi,
        caller: Caller,
        req: &mut Request,
    ) -> Result<Reply, ApiError> {
        let id = path_id::operation(req)?;
        if let Some(magic) = api.magic
            && let Some(operation) = api.queries.find(caller.viewer(), id).await?
        {
            magic.check_operation(api, &caller, &operation).await?;
        }
        let (viewer, actor, now) = (caller.viewer(), caller.actor(), api.clock.now());
        let done = api
            .operations
            .command(viewer, id, &Command::Cancel, actor, now)
            .await?;
        log::moved(&done, None);
        let body = convert::text(&convert::pre_authorization(&done.operation));
        // The contract demands 201 here, also when the offer was already cancelled.
        Ok(Reply::json(StatusCode::CREATED, body))
    }
}
