//! `/companies/{id}/blocked-suppliers`: suppliers that a head office and its branches do not deal
//! with.

use preauth_core::ErrorCode;
use preauth_core::value::Cnpj;
use salvo::async_trait;
use salvo::http::{Request, StatusCode};
use serde::Serialize;

use crate::directory::Page;
use crate::http::error::ApiError;
use crate::http::reply::Reply;
use crate::http::{convert, path_id};

use super::endpoint::Endpoint;
use super::{PlatformApi, lookup, paging};

#[derive(Clone, Copy)]
pub(super) struct Block;

#[async_trait]
impl Endpoint for Block {
    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let supplier = path_id::cnpj(req)?;
        let company = lookup::head_office(api, req).await?;
        let now = api.clock.now();
        api.directory
            .block_supplier(company, &supplier, now)
            .await?;
        let body = convert::text(&BlockedSupplierShape::from(&supplier));
        Ok(Reply::json(StatusCode::OK, body))
    }
}

#[derive(Clone, Copy)]
pub(super) struct Unblock;

#[async_trait]
impl Endpoint for Unblock {
    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let supplier = path_id::cnpj(req)?;
        let company = lookup::head_office(api, req).await?;
        api.directory.unblock_supplier(company, &supplier).await?;
        Ok(Reply::no_content())
    }
}

#[derive(Clone, Copy)]
pub(super) struct Find;

#[async_trait]
impl Endpoint for Find {
    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let supplier = path_id::cnpj(req)?;
        let company = lookup::head_office(api, req).await?;
        let blocked = api.directory.blocked_suppliers(company).await?;
        // An entry covers the whole legal entity.
        if !blocked.iter().any(|it| it.root() == supplier.root()) {
            return Err(ApiError::new(ErrorCode::ResourceNotFound));
        }
        let body = convert::text(&BlockedSupplierShape::from(&supplier));
        Ok(Reply::json(StatusCode::OK, body))
    }
}

#[derive(Clone, Copy)]
pub(super) struct List;

#[async_trait]
impl Endpoint for List {
    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let page = paging::page(req)?;
        let company = lookup::head_office(api, req).await?;
        let blocked = api.directory.blocked_suppliers(company).await?;
        let total = u64::try_from(blocked.len()).unwrap_or(u64::MAX);
        let before = usize::try_from(page.offset()).unwrap_or(usize::MAX);
        let limit = usize::try_from(page.limit).unwrap_or(usize::MAX);
        let items = blocked.into_iter().skip(before).take(limit).collect();
        let found = Page { items, total };
        Ok(paging::reply(&found, page, |each| {
            BlockedSupplierShape::from(each)
        }))
    }
}

#[derive(Debug, Serialize)]
struct BlockedSupplierShape {
    cnpj: String,
}

impl From<&Cnpj> for BlockedSupplierShape {
    fn from(cnpj: &Cnpj) -> Self {
        Self {
            cnpj: cnpj.to_string(),
        }
    }
}
