//! `/operations/{id}/extensions` and `/extensions/{id}`: later due dates of a boleto.

mod add;
mod find;
mod list;
mod settle;
mod shape;

pub(super) use add::Add;
pub(super) use find::Find;
pub(super) use list::List;
pub(super) use settle::{CANCEL, CONCLUDE};
pub(super) use shape::ExtensionShape;

use preauth_core::ErrorCode;
use preauth_core::value::ExtensionId;
use salvo::http::StatusCode;

use crate::directory::OperationExtension;
use crate::http::convert;
use crate::http::error::ApiError;
use crate::http::reply::Reply;

use super::PlatformApi;

/// The extension of the path, or 404.
async fn extension(api: &PlatformApi, id: ExtensionId) -> Result<OperationExtension, ApiError> {
    let found = api.directory.extension(id).await?;
    found.ok_or(ApiError::new(ErrorCode::ResourceNotFound))
}

/// The answer with the current state of one extension.
async fn reply(api: &PlatformApi, status: StatusCode, id: ExtensionId) -> Result<Reply, ApiError> {
    let extension = extension(api, id).await?;
    let body = convert::text(&ExtensionShape::from(&extension));
    Ok(Reply::json(status, body))
}
