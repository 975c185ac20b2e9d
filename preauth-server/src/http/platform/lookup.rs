//! Looks up the records that a request names.

use preauth_core::ErrorCode;
use preauth_core::operation::Operation;
use preauth_core::port::Viewer;
use preauth_core::value::{Cnpj, CompanyId, CompanyKind};
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

/// The registered company of the path. An invited supplier is not registered: only the data that
/// offers need is stored.
pub(super) async fn registered(api: &PlatformApi, req: &Request) -> Result<Company, ApiError> {
    let company = company(api, req).await?;
    refuse_invited(&company)?;
    Ok(company)
}

pub(super) fn refuse_invited(company: &Company) -> Result<(), Refusal> {
    if company.is_invited {
        Err(Refusal::NotRegistered { cnpj: company.cnpj })
    } else {
        Ok(())
    }
}

/// The head office of the path. A branch is a conflict that names its head office; otherwise the
/// head office's records would seem to be missing.
pub(super) async fn head_office(api: &PlatformApi, req: &Request) -> Result<CompanyId, ApiError> {
    let company = company(api, req).await?;
    match company.head_office {
        None => Ok(company.id),
        Some(head_office) => Err(Refusal::Branch { head_office }.into()),
    }
}

/// The operation that the path names.
pub(super) async fn operation(api: &PlatformApi, req: &Request) -> Result<Operation, ApiError> {
    let id = path_id::operation(req)?;
    let found = api.queries.find(Viewer::Platform, id).await?;
    found.ok_or(ApiError::new(ErrorCode::AnticipationNotFound))
}

/// The construction company and the registered supplier of a new record. Reports which of them is
/// missing; the domain rules do not distinguish them.
pub(super) async fn parties(
    api: &PlatformApi,
    payer: CompanyId,
    supplier: &Cnpj,
) -> Result<(Company, Company), ApiError> {
    let payer = api.directory.company(payer).await?;
    let payer = payer.ok_or(Refusal::PayerUnknown)?;
    if payer.kind != CompanyKind::Construction {
        return Err(Refusal::PayerNotConstruction.into());
    }
    let supplier = api.directory.company_by_cnpj(supplier).await?;
    let supplier = supplier.ok_or(Refusal::SupplierUnknown)?;
    refuse_invited(&supplier)?;
    Ok((payer, supplier))
}
