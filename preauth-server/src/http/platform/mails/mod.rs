//! `/companies/{id}/notices` and `/notices/{id}`: the stored mails, their attempts, and their
//! resending.

mod find;
mod list;
mod resend;
mod shape;

pub(super) use find::Find;
pub(super) use list::List;
pub(super) use resend::Resend;

use preauth_core::ErrorCode;
use preauth_core::value::NoticeId;
use salvo::http::StatusCode;

use crate::http::convert;
use crate::http::error::ApiError;
use crate::http::reply::Reply;

use super::PlatformApi;
use shape::NoticeShape;

/// The answer with the current state of one mail.
async fn reply(api: &PlatformApi, id: NoticeId) -> Result<Reply, ApiError> {
    let found = api.directory.notice(id).await?;
    let notice = found.ok_or(ApiError::new(ErrorCode::ResourceNotFound))?;
    let body = convert::text(&NoticeShape::from(&notice));
    Ok(Reply::json(StatusCode::OK, body))
}
