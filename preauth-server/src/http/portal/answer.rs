//! What a page implements: its reading, and the effect of its form.

use salvo::async_trait;
use salvo::http::{Request, StatusCode};

use crate::http::error::ApiError;
use crate::http::reply::Reply;

use super::visit::Visit;

/// A page behind a link.
#[async_trait]
pub(super) trait Answer: Send + Sync + 'static {
    /// Whether it has a form.
    const HAS_FORM: bool;

    /// GET and HEAD: changes nothing.
    async fn read(&self, visit: &Visit<'_>) -> Result<Reply, ApiError>;

    /// POST of its form.
    async fn submit(&self, _visit: &Visit<'_>, _req: &mut Request) -> Result<Reply, ApiError> {
        Ok(Reply::empty(StatusCode::METHOD_NOT_ALLOWED))
    }
}
