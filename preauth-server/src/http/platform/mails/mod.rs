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
use preauth_core::value::MailId;
use salvo::http::StatusCode;

use crate::http::convert;
use crate::http::error::ApiError;
use crate::http::reply::Reply;

use super::PlatformApi;
use shape::MailShape;

/// The answer with the current state of one mail.
async fn reply(api: &PlatformApi, id: MailId) -> Result<Reply, ApiError> {
    let found = api.directory.mail(id).await?;
    let mail = found.ok_or(ApiError::new(ErrorCode::ResourceNotFound))?;
    let body = convert::text(&MailShape::from(&mail));
    Ok(Reply::json(StatusCode::OK, body))
}
