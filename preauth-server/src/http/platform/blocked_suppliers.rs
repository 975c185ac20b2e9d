//! `/companies/{id}/blocked-suppliers`: suppliers that a head office and its branches do not deal
//! with.

use preauth_core::ErrorCode;
use preauth_core::access::is_blocked;
use preauth_core::value::Cnpj;
use salvo::async_trait;
use salvo::http::Request;

use crate::directory::Page;
use crate::http::error::ApiError;
use crate::http::openapi::described::Described;
use crate::http::openapi::document::Parameter;
use crate::http::openapi::schema::Schema;
use crate::http::openapi::shape::answer;
use crate::http::path_id;
use crate::http::reply::Reply;

use super::endpoint::{Endpoint, ok};
use super::sections::{COMPANIES, HEAD_OFFICE};
use super::{PlatformApi, lookup, paging};

answer! {
    /// A supplier whom the company does not deal with.
    #[derive(Debug)]
    pub(crate) struct BlockedSupplier = "BlockedSupplier" {
        /// Tax id, digits and upper-case letters only.
        cnpj: Cnpj = "11444777000161",
    }
}

#[derive(Clone, Copy)]
pub(super) struct Block;

#[async_trait]
impl Endpoint for Block {
    fn document(&self, operation: Described) -> Described {
        operation
            .titled(COMPANIES, "blockSupplier", "Block a supplier")
            .id(HEAD_OFFICE)
            .parameter(Parameter::path("cnpj", supplier()))
            .answers(200, "Blocked.", Schema::of::<BlockedSupplier>())
            .refuses(&[ErrorCode::ResourceConflict, ErrorCode::ValidationError])
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let supplier = path_id::cnpj(req)?;
        let company = lookup::head_office(api, req).await?;
        let now = api.clock.now();
        api.directory
            .block_supplier(company, &supplier, now)
            .await?;
        Ok(ok(&BlockedSupplier { cnpj: supplier }))
    }
}

#[derive(Clone, Copy)]
pub(super) struct Unblock;

#[async_trait]
impl Endpoint for Unblock {
    fn document(&self, operation: Described) -> Described {
        operation
            .titled(COMPANIES, "unblockSupplier", "Unblock a supplier")
            .id(HEAD_OFFICE)
            .parameter(Parameter::path("cnpj", supplier()))
            .answers_empty(204, "Not blocked.")
            .refuses(&[ErrorCode::ResourceConflict, ErrorCode::ValidationError])
    }

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
    fn document(&self, operation: Described) -> Described {
        operation
            .titled(
                COMPANIES,
                "getBlockedSupplier",
                "Find out whether a supplier is blocked",
            )
            .id(HEAD_OFFICE)
            .parameter(Parameter::path("cnpj", supplier()))
            .answers(200, "It is.", Schema::of::<BlockedSupplier>())
            .refuses(&[ErrorCode::ResourceConflict, ErrorCode::ValidationError])
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let supplier = path_id::cnpj(req)?;
        let company = lookup::head_office(api, req).await?;
        let blocked = api.directory.blocked_suppliers(company).await?;
        if !is_blocked(&blocked, supplier) {
            return Err(ApiError::new(ErrorCode::ResourceNotFound));
        }
        Ok(ok(&BlockedSupplier { cnpj: supplier }))
    }
}

#[derive(Clone, Copy)]
pub(super) struct List;

#[async_trait]
impl Endpoint for List {
    fn document(&self, operation: Described) -> Described {
        operation
            .titled(COMPANIES, "listBlockedSuppliers", "List blocked suppliers")
            .id(HEAD_OFFICE)
            .paged()
            .answers(200, "By tax id.", Schema::list_of::<BlockedSupplier>())
            .refuses(&[ErrorCode::ResourceConflict])
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let page = paging::page(req)?;
        let company = lookup::head_office(api, req).await?;
        let blocked = api.directory.blocked_suppliers(company).await?;
        let total = u64::try_from(blocked.len()).unwrap_or(u64::MAX);
        let before = usize::try_from(page.offset()).unwrap_or(usize::MAX);
        let limit = usize::try_from(page.limit).unwrap_or(usize::MAX);
        let items = blocked.into_iter().skip(before).take(limit).collect();
        let found = Page {
            items,
            total,
            is_cut: false,
        };
        Ok(paging::reply(&found, page, |cnpj| BlockedSupplier {
            cnpj: *cnpj,
        }))
    }
}

/// The parameter of a path.
fn supplier() -> Schema {
    Schema::text(
        "The supplier's tax id, with or without mask.",
        "11444777000161",
    )
    .typed_cnpj()
}
