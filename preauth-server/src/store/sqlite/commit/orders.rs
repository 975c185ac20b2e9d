//! Payment orders of commits.

use preauth_core::payment_order::PaymentOrder;
use preauth_core::value::{OperationId, PaymentOrderId, Reason, Version};
use sqlx::SqliteConnection;

use crate::store::error::{WriteError, one_row_or};

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
