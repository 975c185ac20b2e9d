//! The search for operations, for the platform's staff.

use async_trait::async_trait;
use preauth_core::operation::Operation;
use preauth_core::port::{PageRequest, Unavailable};
use preauth_core::value::{Cnpj, ExternalReference, InvoiceNumber, Status, Timestamp};

use super::Page;

/// The filter of a list of operations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OperationFilter {
    /// Only these statuses; all when empty.
    pub statuses: Vec<Status>,
    /// Only with exactly this reference.
    pub external_reference: Option<ExternalReference>,
    /// Only those whose payer or supplier has this tax id.
    pub cnpj: Option<Cnpj>,
    /// Only those whose invoice has exactly this number.
    pub invoice_number: Option<InvoiceNumber>,
    /// Only those begun at this moment or later.
    pub from: Option<Timestamp>,
    /// Only those begun before this moment.
    pub until: Option<Timestamp>,
}

impl OperationFilter {
    /// Whether it restricts more than the status.
    #[must_use]
    pub const fn is_search(&self) -> bool {
        self.external_reference.is_some()
            || self.cnpj.is_some()
            || self.invoice_number.is_some()
            || self.from.is_some()
            || self.until.is_some()
    }
}

/// Searches operations of all companies.
#[async_trait]
pub trait OperationSearch: Send + Sync {
    /// The operations, newest first.
    async fn search_operations(
        &self,
        filter: &OperationFilter,
        page: PageRequest,
    ) -> Result<Page<Operation>, Unavailable>;
}
