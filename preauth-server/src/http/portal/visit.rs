//! A request with a valid link, and the operation that it opens.

use preauth_core::operation::{Operation, State};
use preauth_core::port::Viewer;
use preauth_core::value::{Email, OperationId, Timestamp};

use crate::http::error::ApiError;
use crate::http::pages::headers;
use crate::http::reply::Reply;
use crate::secret::SupplierPage;

use super::PortalApi;
use super::frame::Frame;

/// A request for a page of an operation that may be shown.
pub(super) struct Visit<'a> {
    pub(super) api: &'a PortalApi,
    pub(super) frame: Frame,
    pub(super) operation: Operation,
    /// The address in the link, where it has one.
    pub(super) address: Option<Email>,
    pub(super) now: Timestamp,
}

impl Visit<'_> {
    /// Whether the supplier may still answer.
    pub(super) fn is_open(&self) -> bool {
        matches!(self.operation.state, State::InPreAuth) && !self.operation.is_overdue(self.now)
    }

    /// Leads back to the offer's page, which shows what is so now.
    pub(super) fn back(&self) -> Reply {
        headers::see_other(&self.frame.path(&SupplierPage::Offer))
    }
}

/// The operation as it is now, if it exists.
pub(super) async fn find(api: &PortalApi, id: OperationId) -> Result<Option<Operation>, ApiError> {
    Ok(api.queries.find(Viewer::Platform, id).await?)
}
