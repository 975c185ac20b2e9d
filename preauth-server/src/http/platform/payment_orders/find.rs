//! GET /payment-orders/{id}.

use preauth_core::ErrorCode;
use preauth_core::value::PaymentOrderId;
use salvo::async_trait;
use salvo::http::{Request, StatusCode};

use crate::http::error::ApiError;
use crate::http::platform::PlatformApi;
use crate::http::platform::endpoint::Endpoint;
use crate::http::reply::Reply;
use crate::http::{convert, path_id};

use super::shape::PaymentOrderShape;

#[derive(Clone, Copy)]
pub(in crate::http::platform) struct Find;

#[async_trait]
impl Endpoint for Find {
    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let id = path_id::number(req, PaymentOrderId::parse)?;
        let found = api.directory.payment_order(id).await?;
        let order = found.ok_or(ApiError::new(ErrorCode::ResourceNotFound))?;
        let body = convert::text(&PaymentOrderShape::from(&order));
        Ok(Reply::json(StatusCode::OK, body))
    }
}
