//! Payment orders as rows: reading, inserting, and updating.

use async_trait::async_trait;
use preauth_core::payment_order::{OtherOrder, PaymentOrder};
use preauth_core::port::{PageRequest, Unavailable};
use preauth_core::value::{OperationId, PaymentOrderId, Reason, Version};
use sqlx::SqliteConnection;

use crate::directory::{Page, PaymentOrders};
use crate::store::rows::{
    MAX_OTHER_ORDERS, order, other_order, select_orders, select_other_orders,
};

use super::SqliteStore;
use super::rows::{Columns, clamped, count};
use crate::store::error::{Fault, WriteError, one_row_or};

#[async_trait]
impl PaymentOrders for SqliteStore {
    async fn payment_order(&self, id: PaymentOrderId) -> Result<Option<PaymentOrder>, Unavailable> {
        let mut reader = self.reader().await?;
        Ok(by_id(&mut reader, id).await?)
    }

    async fn payment_orders(&self, page: PageRequest) -> Result<Page<PaymentOrder>, Unavailable> {
        let mut snapshot = self.snapshot().await?;
        Ok(list(&mut snapshot, page).await?)
    }
}

/// The payment order with an id, if there is one.
pub(super) async fn by_id(
    connection: &mut SqliteConnection,
    id: PaymentOrderId,
) -> Result<Option<PaymentOrder>, Fault> {
    let row = sqlx::query(select_orders!("WHERE o.id = ?1"))
        .bind(id.get())
        .fetch_optional(connection)
        .await?;
    Ok(row.as_ref().map(order).transpose()?)
}

/// Inserts a new order. A conflict when its operation has another current order than `instead_of`.
pub(super) async fn insert(
    connection: &mut SqliteConnection,
    order: &PaymentOrder,
    instead_of: Option<PaymentOrderId>,
) -> Result<(), WriteError> {
    sqlx::query(
        "INSERT INTO payment_orders (id, head_office_id, payer_id, supplier_id, operation_id,
             version, status, amount_cents, scheduled_for, reason, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    )
    .bind(order.id.get())
    .bind(order.payer.head_office.as_uuid().as_bytes().as_slice())
    .bind(order.payer.company.as_uuid().as_bytes().as_slice())
    .bind(order.supplier.company.as_uuid().as_bytes().as_slice())
    .bind(order.operation.map(OperationId::get))
    .bind(order.version.get())
    .bind(order.status.as_str())
    .bind(order.amount.cents())
    .bind(order.scheduled_for.map(|day| day.to_string()))
    .bind(order.reason.as_ref().map(Reason::as_str))
    .bind(order.created_at.unix_millis())
    .execute(&mut *connection)
    .await?;
    let Some(operation) = order.operation else {
        return Ok(());
    };
    let done = sqlx::query(
        "INSERT INTO current_payment_orders (operation_id, payment_order_id) VALUES (?1, ?2)
         ON CONFLICT (operation_id) DO UPDATE SET payment_order_id = excluded.payment_order_id
         WHERE current_payment_orders.payment_order_id = ?3",
    )
    .bind(operation.get())
    .bind(order.id.get())
    .bind(instead_of.map(PaymentOrderId::get))
    .execute(connection)
    .await?;
    one_row_or(done.rows_affected(), WriteError::Conflict)
}

/// Updates an order from the version `expected`.
pub(super) async fn update(
    connection: &mut SqliteConnection,
    order: &PaymentOrder,
    expected: Option<Version>,
) -> Result<(), WriteError> {
    let done = sqlx::query(
        "UPDATE payment_orders
         SET version = ?1, status = ?2, scheduled_for = ?3, reason = ?4
         WHERE id = ?5 AND version = ?6",
    )
    .bind(order.version.get())
    .bind(order.status.as_str())
    .bind(order.scheduled_for.map(|day| day.to_string()))
    .bind(order.reason.as_ref().map(Reason::as_str))
    .bind(order.id.get())
    .bind(expected.map(Version::get))
    .execute(connection)
    .await?;
    one_row_or(done.rows_affected(), WriteError::Conflict)
}

/// The newest orders of an operation that were neither canceled nor reproved.
pub(super) async fn of_operation(
    connection: &mut SqliteConnection,
    operation: OperationId,
) -> Result<Vec<OtherOrder>, Fault> {
    let rows = sqlx::query(select_other_orders!(
        "",
        "WHERE o.operation_id = ?1 AND o.status NOT IN ('CANCELED', 'REPROVED')
         ORDER BY o.id DESC LIMIT ?2"
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
    connection: &mut SqliteConnection,
    operation: OperationId,
) -> Result<Option<PaymentOrderId>, Fault> {
    let row =
        sqlx::query("SELECT payment_order_id FROM current_payment_orders WHERE operation_id = ?1")
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
    connection: &mut SqliteConnection,
    page: PageRequest,
) -> Result<Page<PaymentOrder>, Fault> {
    let total = sqlx::query_scalar("SELECT count(*) FROM payment_orders")
        .fetch_one(&mut *connection)
        .await?;
    let rows = sqlx::query(select_orders!("ORDER BY o.id DESC LIMIT ?1 OFFSET ?2"))
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
