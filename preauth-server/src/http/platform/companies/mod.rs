//! `/companies`: head offices, their branches, suppliers.

mod add;
mod shape;

use preauth_core::ErrorCode;
use preauth_core::port::PageRequest;
use preauth_core::value::{Cnpj, CompanyId};
use salvo::async_trait;
use salvo::http::Request;

use crate::directory::{Company, Page, Suspension};
use crate::http::error::ApiError;
use crate::http::fields::Problems;
use crate::http::openapi::described::Described;
use crate::http::openapi::document::Parameter;
use crate::http::openapi::schema::Schema;
use crate::http::query::Query;
use crate::http::reply::Reply;
use crate::http::requested::RequestedObject;
use crate::http::{list_query, path_id};

use super::endpoint::{Endpoint, ok};
use super::sections::{COMPANIES, COMPANY, HEAD_OFFICE};
use super::{PlatformApi, lookup, paging};

pub(super) use add::Add;
pub(crate) use shape::{
    CompanyChange, CompanyShape, ContactShape, InvitationShape, NewCompany, NewSuspension,
};

/// All companies, newest first, or the one with a tax id.
#[derive(Clone, Copy)]
pub(super) struct List;

#[async_trait]
impl Endpoint for List {
    fn document(&self, operation: Described) -> Described {
        operation
            .titled(COMPANIES, "listCompanies", "List companies")
            .paged()
            .parameter(Parameter::query("cnpj", cnpj_filter()))
            .answers(200, "Newest first.", Schema::list_of::<CompanyShape>())
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let query = Query::parse(req.uri().query());
        let mut problems = Problems::default();
        let cnpj = query.one("cnpj", Cnpj::parse, &mut problems);
        let page = list_query::page(&query, &mut problems);
        let (cnpj, page) = problems.unless_any(Some((cnpj, page)))?;
        let found = match cnpj {
            None => api.directory.companies(page).await?,
            Some(cnpj) => one(api.directory.company_by_cnpj(&cnpj).await?, page),
        };
        Ok(paging::reply(&found, page, |each| CompanyShape::from(each)))
    }
}

fn cnpj_filter() -> Schema {
    Schema::text("Only the company with this tax id.", "11222333000181").typed_cnpj()
}

/// A list with the company found, or an empty one.
fn one(found: Option<Company>, page: PageRequest) -> Page<Company> {
    let total = found.iter().count().try_into().unwrap_or_default();
    let items = found.into_iter().filter(|_| page.offset() == 0).collect();
    Page {
        items,
        total,
        is_cut: false,
    }
}

#[derive(Clone, Copy)]
pub(super) struct Find;

#[async_trait]
impl Endpoint for Find {
    fn document(&self, operation: Described) -> Described {
        operation
            .titled(COMPANIES, "getCompany", "Get a company")
            .id(COMPANY)
            .answers(200, "The company.", Schema::of::<CompanyShape>())
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let company = lookup::company(api, req).await?;
        Ok(ok(&CompanyShape::from(&company)))
    }
}

/// Corrects the name of a registered company.
#[derive(Clone, Copy)]
pub(super) struct Update;

#[async_trait]
impl Endpoint for Update {
    fn document(&self, operation: Described) -> Described {
        operation
            .titled(
                COMPANIES,
                "updateCompany",
                "Correct the name of a registered company",
            )
            .id(COMPANY)
            .note(
                "Lists, records and later events show it; past events and remembered answers stay.",
            )
            .body("The fields to change.", Schema::of::<CompanyChange>())
            .answers(200, "The company.", Schema::of::<CompanyShape>())
            .refuses(&[ErrorCode::SupplierNotRegistered])
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let CompanyChange { name } = CompanyChange::parse(&api.json(req).await?)?;
        let mut company = lookup::registered(api, req).await?;
        if let Some(name) = name {
            company = api.directory.rename_company(company.id, &name).await?;
        }
        Ok(ok(&CompanyShape::from(&company)))
    }
}

/// The branches of a head office, newest first.
#[derive(Clone, Copy)]
pub(super) struct Branches;

#[async_trait]
impl Endpoint for Branches {
    fn document(&self, operation: Described) -> Described {
        operation
            .titled(
                COMPANIES,
                "listBranches",
                "List the branches of a head office",
            )
            .paged()
            .id(HEAD_OFFICE)
            .note("`POST /companies` with `headOfficeId` adds one.")
            .answers(200, "Newest first.", Schema::list_of::<CompanyShape>())
            .refuses(&[ErrorCode::ResourceConflict])
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let page = paging::page(req)?;
        let head_office = lookup::head_office(api, req).await?;
        let found = api.directory.branches(head_office, page).await?;
        Ok(paging::reply(&found, page, |each| CompanyShape::from(each)))
    }
}

/// The names that head offices gave an invited supplier, newest first.
#[derive(Clone, Copy)]
pub(super) struct Invitations;

#[async_trait]
impl Endpoint for Invitations {
    fn document(&self, operation: Described) -> Described {
        operation
            .titled(
                COMPANIES,
                "listInvitations",
                "List what companies call a supplier that is not registered",
            )
            .paged()
            .id(COMPANY)
            .answers(200, "Newest first.", Schema::list_of::<InvitationShape>())
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let page = paging::page(req)?;
        let company = lookup::company(api, req).await?;
        let found = api.directory.invitations(company.id, page).await?;
        Ok(paging::reply(&found, page, |each| {
            InvitationShape::from(each)
        }))
    }
}

/// Idempotent, like its opposite.
#[derive(Clone, Copy)]
pub(super) struct Suspend;

#[derive(Clone, Copy)]
pub(super) struct Resume;

#[async_trait]
impl Endpoint for Suspend {
    fn document(&self, operation: Described) -> Described {
        operation
            .titled(COMPANIES, "suspendCompany", "Forbid a company's keys")
            .id(COMPANY)
            .note(
                "From the next request on, on every instance, its keys and those of its branches are answered 403 `RBAC_FORBIDDEN` by \
                 every operation of the integration API, replays included. Operations in progress continue: offers may be accepted and expire, \
                 operations move, webhooks and mails are sent. A company that is suspended keeps its first suspension.",
            )
            .body("Why.", Schema::of::<NewSuspension>())
            .answers(200, "Suspended.", Schema::of::<CompanyShape>())
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let NewSuspension { reason } = NewSuspension::parse(&api.json(req).await?)?;
        let id = path_id::record(req, CompanyId::parse)?;
        let since = api.clock.now();
        let suspension = Suspension { since, reason };
        let company = api.directory.suspend_company(id, &suspension).await?;
        tracing::info!(target: "company", company = %company.id, "suspended");
        Ok(ok(&CompanyShape::from(&company)))
    }
}

#[async_trait]
impl Endpoint for Resume {
    fn document(&self, operation: Described) -> Described {
        operation
            .titled(COMPANIES, "resumeCompany", "End a company's suspension")
            .id(COMPANY)
            .note("A branch whose head office is suspended stays forbidden.")
            .answers(200, "Not suspended.", Schema::of::<CompanyShape>())
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let id = path_id::record(req, CompanyId::parse)?;
        let company = api.directory.resume_company(id).await?;
        tracing::info!(target: "company", company = %company.id, "resumed");
        Ok(ok(&CompanyShape::from(&company)))
    }
}
