//! `/companies/{id}/webhook-endpoint`: the endpoint that receives a head office's events (contract,
//! "Endpoint registration rules").

mod delete;
mod find;
mod pause;
mod rotate_secret;
mod set;
mod shape;
mod test;

pub(super) use delete::Delete;
pub(super) use find::Find;
pub(super) use pause::{PAUSE, RESUME};
pub(super) use rotate_secret::RotateSecret;
pub(super) use set::Set;
pub(super) use test::Test;

use preauth_core::ErrorCode;
use preauth_core::value::CompanyId;
use salvo::http::Request;

use crate::directory::Endpoint;
use crate::http::error::ApiError;
use crate::http::path_id;

use super::PlatformApi;

/// The endpoint of the company in the path; a branch has none.
async fn endpoint(api: &PlatformApi, req: &Request) -> Result<Endpoint, ApiError> {
    let company = path_id::record(req, CompanyId::parse)?;
    let found = api.directory.endpoint(company).await?;
    found.ok_or(ApiError::new(ErrorCode::ResourceNotFound))
}
