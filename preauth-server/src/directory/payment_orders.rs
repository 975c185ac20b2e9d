//! Payment orders, for the platform's staff.

use async_trait::async_trait;
use preauth_core::payment_order::PaymentOrder;
use preauth_core::port::{PageRequest, Unavailable};
use preauth_core::value::{OperationId, PaymentOrderId, PaymentOrderStatus};

use super::Page;

/// The filter of a list of payment orders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PaymentOrderFilter {
    /// Only this status.
    pub status: Option<PaymentOrderStatus>,
    /// Only those of this operation.
    pub operation: Option<OperationId>,
}

/// Reads payment orders; only commits write them.
#[async_trait]
pub trait PaymentOrders: Send + Sync {
    /// The order, if there is one.
    async fn payment_order(&self, id: PaymentOrderId) -> Result<Option<PaymentOrder>, Unavailable>;

    /// The orders, newest first.
    async fn payment_orders(
        &self,
        filter: PaymentOrderFilter,
        page: PageRequest,
    ) -> Result<Page<PaymentOrder>, Unavailable>;
}
