//! GET /pre-authorizations/{id}: one operation with its current status.

use preauth_core::ErrorCode;
use preauth_core::value::Scope;
use salvo::async_trait;
use salvo::http::{Request, StatusCode};

use crate::http::caller::Caller;
use crate::http::error::ApiError;
use crate::http::reply::Reply;
use crate::http::{convert, path_id};

use super::{Endpoint, IntegrationApi};

pub(super) struct Find;

#[async_trait]
impl Endpoint for Find {
    const SCOPE: Scope = Scope::PreauthRead;

    async fn answer(
        &self,
        api: &IntegrationApi,
        caller: Caller,
        req: &mut Request,
    ) -> Result<Reply, ApiError> {
        let id = path_id::operation(req)?;
        let found = api.queries.find(caller.viewer(), id).await?;
        let operation = found.ok_or(ApiError::new(ErrorCode::AnticipationNotFound))?;
        if let Some(magic) = api.magic {
            magic.check_operation(api, &caller, &operation).await?;
        }
        let body = convert::text(&convert::pre_authorization(&operation));
        Ok(Reply::json(StatusCode::OK, body))
    }
}
