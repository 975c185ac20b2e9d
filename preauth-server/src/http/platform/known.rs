//! Companies that a request names, as far as they are known.

use preauth_core::ErrorCode;
use preauth_core::value::CompanyId;
use salvo::http::Request;

use crate::directory::Company;
use crate::http::error::ApiError;
use crate::http::path_id;

use super::{PlatformApi, Refusal};

/// The company that the path names.
pub(super) async fn company(api: &PlatformApi, req: &Request) -> Result<Company, ApiError> {
    let id = path_id::record(req, CompanyId::parse)?;
    let found = api.directory.company(id).await?;
    found.ok_or(ApiError::new(ErrorCode::ResourceNotFound))
}

/// The head office that the path names. A branch is a conflict that names its head office: what is
/// kept there would otherwise seem to be missing.
pub(super) async fn head_office(api: &PlatformApi, req: &Request) -> Result<CompanyId, ApiError> {
    let company = company(api, req).await?;
    match company.head_office {
        None => Ok(company.id),
        Some(head_office) => Err(Refusal::Branch { head_office }.into()),
    }
}
