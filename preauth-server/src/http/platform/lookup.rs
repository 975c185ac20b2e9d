//! Looks up the records that a request names.

use preauth_core::ErrorCode;
use preauth_core::access::decide_parties;
use preauth_core::operation::Operation;
use preauth_core::port::Viewer;
use preauth_core::value::{Cnpj, CompanyId};
use salvo::http::Request;

use crate::directory::Company;
use crate::http::error::ApiError;
use crate::http::path_id;

use super::endpoint::existing;
use super::{PlatformApi, Refusal};

/// The company that the path names.
pub(super) async fn company(api: &PlatformApi, req: &Request) -> Result<Company, ApiError> {
    let id = path_id::record(req, CompanyId::parse)?;
    let found = api.directory.company(id).await?;
    existing(found)
}

/// The registered company of the path; an invited supplier is refused.
pub(super) async fn registered(api: &PlatformApi, req: &Request) -> Result<Company, ApiError> {
    let company = company(api, req).await?;
    company
        .known()
        .require_registered()
        .map_err(Refusal::from)?;
    Ok(company)
}

/// The head office of the path; a branch is refused.
pub(super) async fn head_office(api: &PlatformApi, req: &Request) -> Result<CompanyId, ApiError> {
    let company = company(api, req).await?;
    let head_office = company.known().require_head_office();
    Ok(head_office.map_err(Refusal::from)?)
}

/// The operation that the path names.
pub(super) async fn operation(api: &PlatformApi, req: &Request) -> Result<Operation, ApiError> {
    let id = path_id::operation(req)?;
    let found = api.queries.find(Viewer::Platform, id).await?;
    found.ok_or(ApiError::new(ErrorCode::AnticipationNotFound))
}

/// The payer and the supplier of a new record. Reports which of them is missing; the use cases do
/// not distinguish them.
pub(super) async fn parties(
    api: &PlatformApi,
    payer: CompanyId,
    supplier: &Cnpj,
) -> Result<(Company, Company), ApiError> {
    let payer = api.directory.company(payer).await?;
    let supplier = api.directory.company_by_cnpj(supplier).await?;
    let known = (
        payer.as_ref().map(Company::known),
        supplier.as_ref().map(Company::known),
    );
    decide_parties(known.0.as_ref(), known.1.as_ref()).map_err(Refusal::from)?;
    Ok((existing(payer)?, existing(supplier)?))
}
