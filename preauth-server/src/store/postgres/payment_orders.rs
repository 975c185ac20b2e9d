//! Payment orders as rows: reading.

use async_trait::async_trait;
use preauth_core::payment_order::{OtherOrder, PaymentOrder};
use preauth_core::port::{PageRequest, Unavailable};
use preauth_core::value::{OperationId, PaymentOrderId};
use sqlx::PgConnection;

use crate::directory::{Page, PaymentOrders};
use crate::store::rows::{
    MAX_OTHER_ORDERS, order, other_order, select_orders, select_other_orders,
};

use super::PostgresStore;
use super::rows::{Columns, clamped, count};
use crate::store::error::Fault;

#[async_trait]
impl PaymentOrders for PostgresStore {
    async fn payment_order(&self, id: PaymentOrderId) -> Result<Option<PaymentOrder>, Unavailable> {
        let found = self.read(&id, |connection, id| Box::pin(by_id(connection, *id)));
        Ok(found.await?)
    }

    async fn payment_orders(&self, page: PageRequest) -> Result<Page<PaymentOrder>, Unavailable> {
        let found = self.read_snapshot(&page, |connection, page| Box::pin(list(connection, *page)));
        Ok(found.await?)
    }
}

/// The payment order with an id, if there is one.
pub(super) async fn by_id(
    connection: &mut PgConnection,
    id: PaymentOrderId,
) -> Result<Option<PaymentOrder>, Fault> {
    let row = sqlx::query(select_orders!("WHERE o.id = $1"))
        .bind(id.get())
        .fetch_optional(connection)
        .await?;
    Ok(row.as_ref().map(order).transpose()?)
}

/// The newest orders of an operation that were neither canceled nor reproved.
pub(super) async fn of_operation(
    connection: &mut PgConnection,
    operation: OperationId,
) -> Result<Vec<OtherOrder>, Fault> {
    let rows = sqlx::query(select_other_orders!(
        "",
        "WHERE o.operation_id = $1 AND o.status NOT IN ('CANCELED', 'REPROVED')
         ORDER BY o.id DESC LIMIT $2"
    ))
    .bind(operation.get())
    .bind(MAX_OTHER_ORDERS)
    .fetch_all(connection)
    .await?;
    let others: Result<_, _> = rows.iter().map(other_order).collect();
    Ok(others?)
}

/// The current order of an operation, which the next one replaces.
pub(super) async fn current(
    connection: &mut PgConnection,
    operation: OperationId,
) -> Result<Option<PaymentOrderId>, Fault> {
    let row =
        sqlx::query("SELECT payment_order_id FROM current_payment_orders WHERE operation_id = $1")
            .bind(operation.get())
            .fetch_optional(connection)
            .await?;
    let current = row.as_ref().map(|row| {
        let columns = Columns::of("current_payment_orders", row);
        columns.number("payment_order_id", PaymentOrderId::new)
    });
    Ok(current.transpose()?)
}

async fn list(
    connection: &mut PgConnection,
    page: PageRequest,
) -> Result<Page<PaymentOrder>, Fault> {
    let total = sqlx::query_scalar("SELECT count(*) FROM payment_orders")
        .fetch_one(&mut *connection)
        .await?;
    let rows = sqlx::query(select_orders!("ORDER BY o.id DESC LIMIT $1 OFFSET $2"))
        .bind(i64::from(page.limit))
        .bind(clamped(page.offset()))
        .fetch_all(connection)
        .await?;
    let items: Result<_, _> = rows.iter().map(order).collect();
    Ok(Page {
        items: items?,
        total: count(total),
    })
}
