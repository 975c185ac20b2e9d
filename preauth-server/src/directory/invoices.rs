//! Invoices that the platform received.

use async_trait::async_trait;
use preauth_core::ReceivedInvoice;
use preauth_core::port::{PageRequest, Unavailable};
use preauth_core::value::InvoiceId;

use super::Page;

/// Reads received invoices; a commit writes each together with its event.
#[async_trait]
pub trait Invoices: Send + Sync {
    /// Reserves the id of an invoice; it is never assigned again, even if it is not used.
    async fn reserve_invoice(&self) -> Result<InvoiceId, Unavailable>;

    /// The invoice, if there is one.
    async fn invoice(&self, id: InvoiceId) -> Result<Option<ReceivedInvoice>, Unavailable>;

    /// All invoices, newest first.
    async fn invoices(&self, page: PageRequest) -> Result<Page<ReceivedInvoice>, Unavailable>;
}
