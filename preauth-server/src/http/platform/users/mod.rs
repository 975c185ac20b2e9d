//! `/companies/{id}/users` and `/users/{id}`: the users on whose behalf keys act.

mod add;
mod find;
mod list;
mod shape;
mod update;

pub(super) use add::Add;
pub(super) use find::Find;
pub(super) use list::List;
pub(super) use update::Update;

use preauth_core::ErrorCode;
use preauth_core::value::UserId;
use salvo::http::Request;

use crate::directory::User;
use crate::http::error::ApiError;
use crate::http::path_id;

use super::PlatformApi;

/// The user that the path names.
async fn user(api: &PlatformApi, req: &Request) -> Result<User, ApiError> {
    let id = path_id::record(req, UserId::parse)?;
    let found = api.directory.user(id).await?;
    found.ok_or(ApiError::new(ErrorCode::ResourceNotFound))
}
