//! Later due dates of a boleto, which the page of their operation shows.

use salvo::async_trait;

use crate::http::pages::headers;
use crate::http::platform::extensions::ExtensionShape;
use crate::http::reply::Reply;

use super::failure::Failure;
use super::guard::Page;
use super::operations;
use super::visit::Visit;

/// Leads to the operation of an extension.
pub(super) struct One;

#[async_trait]
impl Page for One {
    async fn show(&self, visit: &Visit) -> Result<Reply, Failure> {
        let path = format!("extensions/{}", visit.id("id")?);
        let it: ExtensionShape = visit.get(path).await?;
        Ok(headers::see_other(&operations::path(it.operation_id)))
    }
}
