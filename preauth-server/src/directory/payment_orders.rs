//! Payment orders, for the platform's staff.

use async_trait::async_trait;
use preauth_core::payment_order::PaymentOrder;
use preauth_core::port::{PageRequest, Unavailable};
use preauth_core::value::PaymentOrderId;

use super::Page;

/// Reads payment orders; only commits write them.
#[async_trait]
pub trait PaymentOrders: Send + Sync {
    /// The order, if there is one.
    async fn payment_order(&self, id: PaymentOrderId) -> Result<Option<PaymentOrder>, Unavailable>;

    /// All orders, newest first.
    async fn payment_orders(&self, page: PageRequest) -> Result<Page<PaymentOrder>, Unavailable>;
}
