//! `/companies/{id}/notices` and `/notices/{id}`: the mails that were staged, how they fared, and
//! again.

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

/// The answer that shows one mail as it stands.
async fn reply(api: &PlatformApi, id: NoticeId) -> Result<Reply, ApiError> {
    let found = api.directory.notice(id).await?;
    let notice = found.ok_or(ApiError::new(ErrorCode::ResourceNotFound))?;
    let body = convert::text(&NoticeShape::from(&notice));
    Ok(Reply::json(StatusCode::OK, body))
}
