//! `/companies/{id}/api-keys`, `/api-keys/{id}` (contract, "Authentication") and `/api-key-search`.

mod add;
mod search;
mod shape;

use preauth_core::value::ApiKeyId;
use salvo::async_trait;
use salvo::http::Request;

use crate::http::error::ApiError;
use crate::http::openapi::described::Described;
use crate::http::openapi::schema::Schema;
use crate::http::path_id;
use crate::http::reply::Reply;

use super::endpoint::{Endpoint, existing, ok};
use super::sections::{ACCESS, COMPANY};
use super::{PlatformApi, lookup, paging};

pub(super) use add::Add;
pub(super) use search::Search;
pub(crate) use search::{Found, FoundKey, KeySearch};
pub(crate) use shape::{ApiKeyShape, KeyRequest, NewApiKeyShape};

/// Newest first, revoked and expired ones included.
#[derive(Clone, Copy)]
pub(super) struct List;

#[async_trait]
impl Endpoint for List {
    fn document(&self, operation: Described) -> Described {
        operation
            .titled(ACCESS, "listApiKeys", "List a company's API keys")
            .id(COMPANY)
            .paged()
            .answers(200, "Newest first.", Schema::list_of::<ApiKeyShape>())
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let page = paging::page(req)?;
        let company = lookup::company(api, req).await?;
        let found = api.directory.api_keys(company.id, page).await?;
        let now = api.clock.now();
        Ok(paging::reply(&found, page, |key| {
            ApiKeyShape::new(key, now)
        }))
    }
}

#[derive(Clone, Copy)]
pub(super) struct Find;

#[async_trait]
impl Endpoint for Find {
    fn document(&self, operation: Described) -> Described {
        operation
            .titled(ACCESS, "getApiKey", "Get an API key")
            .id("The key's id.")
            .answers(200, "The key.", Schema::of::<ApiKeyShape>())
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let id = path_id::record(req, ApiKeyId::parse)?;
        let found = api.directory.api_key(id).await?;
        let key = existing(found)?;
        Ok(ok(&ApiKeyShape::new(&key, api.clock.now())))
    }
}

/// Revokes a key for good; it stays in the list.
#[derive(Clone, Copy)]
pub(super) struct Revoke;

#[async_trait]
impl Endpoint for Revoke {
    fn document(&self, operation: Described) -> Described {
        operation
            .titled(ACCESS, "revokeApiKey", "Revoke an API key")
            .id("The key's id.")
            .note("It opens nothing any more within a second, on every instance.")
            .answers_empty(204, "Revoked.")
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let id = path_id::record(req, ApiKeyId::parse)?;
        api.directory.revoke_api_key(id, api.clock.now()).await?;
        Ok(Reply::no_content())
    }
}
