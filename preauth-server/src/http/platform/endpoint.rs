//! What answers one method of one path.

use salvo::async_trait;
use salvo::http::Request;

use crate::http::error::ApiError;
use crate::http::reply::Reply;

use super::PlatformApi;

/// The endpoint of one method of one path.
#[async_trait]
pub(super) trait Endpoint: Send + Sync + 'static {
    /// Whether it changes nothing although its method could.
    fn only_reads(&self) -> bool {
        false
    }

    /// Extract, convert, one call, convert.
    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError>;
}
