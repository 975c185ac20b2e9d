//! The endpoint of one method of one path.

use preauth_core::ErrorCode;
use salvo::async_trait;
use salvo::http::{Request, StatusCode};
use serde::Serialize;

use crate::http::convert;
use crate::http::error::ApiError;
use crate::http::openapi::described::Described;
use crate::http::reply::Reply;

use super::PlatformApi;

/// The endpoint of one method of one path.
#[async_trait]
pub(super) trait Endpoint: Send + Sync + 'static {
    /// Whether it changes nothing although its method could.
    fn only_reads(&self) -> bool {
        false
    }

    /// Adds its effect to the API's description; the route has method and path.
    fn document(&self, operation: Described) -> Described;

    /// Extract, convert, one call, convert.
    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError>;
}

/// The answer 200 with a record.
pub(super) fn ok(shape: &impl Serialize) -> Reply {
    Reply::json(StatusCode::OK, convert::text(shape))
}

/// The record that was looked up, or the refusal that there is none.
pub(super) fn existing<T>(found: Option<T>) -> Result<T, ApiError> {
    found.ok_or(ApiError::new(ErrorCode::ResourceNotFound))
}
