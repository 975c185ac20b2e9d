//! GET /pre-authorizations: the operations in which the caller's company is the payer.

use preauth_core::value::Scope;
use salvo::async_trait;
use salvo::http::{Request, StatusCode};

use crate::http::caller::Caller;
use crate::http::error::ApiError;
use crate::http::reply::Reply;
use crate::http::{convert, list_query};

use super::{Endpoint, IntegrationApi};

pub(super) struct List;

#[async_trait]
impl Endpoint for List {
    const SCOPE: Scope = Scope::PreauthRead;

    async fn answer(
        &self,
        api: &IntegrationApi,
        caller: Caller,
        req: &mut Request,
    ) -> Result<Reply, ApiError> {
        let (filter, page) = list_query::operations(req.uri().query())?;
        if let Some(magic) = api.magic {
            magic.check_filter(api, &caller, &filter).await?;
        }
        let found = api.queries.list(caller.viewer(), &filter, page).await?;
        Ok(Reply::json(
            StatusCode::OK,
            convert::text(&convert::list(&found, page)),
        ))
    }
}
