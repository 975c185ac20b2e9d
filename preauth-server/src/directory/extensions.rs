//! Extensions of boletos, past and open.

use async_trait::async_trait;
use preauth_core::port::{ExtensionRecord, PageRequest, Unavailable};
use preauth_core::value::{ExtensionId, OperationId};

use super::Page;

/// An extension and its operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperationExtension {
    /// The operation whose boleto it extends.
    pub operation: OperationId,
    /// The extension and its status.
    pub record: ExtensionRecord,
}

/// Reads extensions; only commits of their operations write them.
#[async_trait]
pub trait Extensions: Send + Sync {
    /// Reserves the id of an extension; it is never assigned again, even if it is not used.
    async fn reserve_extension(&self) -> Result<ExtensionId, Unavailable>;

    /// The extension, if there is one.
    async fn extension(&self, id: ExtensionId) -> Result<Option<OperationExtension>, Unavailable>;

    /// An operation's extensions, newest first.
    async fn extensions(
        &self,
        operation: OperationId,
        page: PageRequest,
    ) -> Result<Page<OperationExtension>, Unavailable>;
}
