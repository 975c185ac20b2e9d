//! Descriptions of offers' files.

use async_trait::async_trait;
use preauth_core::operation::InvoiceFile;
use preauth_core::port::Unavailable;
use preauth_core::value::OperationId;

/// Reads descriptions; only the commits of offers write them.
#[async_trait]
pub trait FileDescriptions: Send + Sync {
    /// The description of an operation's file, if it has one.
    async fn invoice_file(
        &self,
        operation: OperationId,
    ) -> Result<Option<InvoiceFile>, Unavailable>;
}
