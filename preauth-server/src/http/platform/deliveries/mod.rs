//! `/companies/{id}/deliveries` and `/deliveries/{id}`: the deliveries of webhooks and their
//! resending.

mod find;
mod list;
mod resend;
mod resend_failed;
mod shape;

pub(super) use find::Find;
pub(super) use list::List;
pub(super) use resend::Resend;
pub(super) use resend_failed::ResendFailed;

use preauth_core::ErrorCode;
use preauth_core::value::DeliveryId;
use salvo::http::StatusCode;

use crate::directory::Delivery;
use crate::http::convert;
use crate::http::error::ApiError;
use crate::http::reply::Reply;

use super::PlatformApi;
use shape::DeliveryShape;

/// The answer with the current state of one delivery.
pub(super) async fn reply(api: &PlatformApi, id: DeliveryId) -> Result<Reply, ApiError> {
    let found = api.directory.delivery(id).await?;
    let delivery = found.ok_or(ApiError::new(ErrorCode::ResourceNotFound))?;
    Ok(Reply::json(StatusCode::OK, text(&delivery)))
}

/// A delivery as answers show it.
pub(super) fn text(delivery: &Delivery) -> String {
    convert::text(&DeliveryShape::from(delivery))
}
