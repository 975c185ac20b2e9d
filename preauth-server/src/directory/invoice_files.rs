//! Descriptions of the files that came with offers.

use async_trait::async_trait;
use preauth_core::operation::InvoiceFile;
use preauth_core::port::Unavailable;
use preauth_core::value::OperationId;

/// Reads descriptions; only the commits of offers write them.
#[async_trait]
pub trait FileDescriptions: Send + Sync {
    /// What is known of the file that came with an operation, if one did.
    async fn invoice_file(
        &self,
        operation: OperationId,
    ) -> Result<Option<InvoiceFile>, Unavailable>;
}
