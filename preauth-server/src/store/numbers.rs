//! Ids of records that a request names before it is judged.

use async_trait::async_trait;
use preauth_core::port::Unavailable;
use preauth_core::value::{ExtensionId, OperationId};

/// Reserves and resolves the numbers of extensions.
#[async_trait]
pub trait Numbers: Send + Sync {
    /// Reserves the id of an extension; never given out twice, and not kept if it is not used.
    async fn reserve_extension(&self) -> Result<ExtensionId, Unavailable>;

    /// The operation that an extension belongs to, if there is such an extension.
    async fn operation_of_extension(
        &self,
        id: ExtensionId,
    ) -> Result<Option<OperationId>, Unavailable>;
}
