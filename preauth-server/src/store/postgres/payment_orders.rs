//! Payment orders as rows: how they are read back.

use async_trait::async_trait;
use preauth_core::payment_order::PaymentOrder;
use preauth_core::port::{PageRequest, Unavailable};
use preauth_core::value::{OperationId, PaymentOrderId, Version};
use sqlx::PgConnection;
use sqlx::postgres::PgRow;

use crate::directory::{Page, PaymentOrders};

use super::PostgresStore;
use super::error::Fault;
use super::parties::{PAYER, SUPPLIER, party};
use super::rows::{Columns, clamped, count};

/// Every column of an order with its parties, before `$rest`.
macro_rules! select_orders {
    ($rest:literal) => {
        concat!(
            "SELECT o.id, o.version, o.operation_id, o.status, o.amount_cents, o.scheduled_for,
                    o.reason, o.created_at,
                    o.head_office_id AS listed_head_office_id,
                    p.id AS payer_id, p.head_office_id AS payer_head_office_id,
                    p.cnpj AS payer_cnpj, p.name AS payer_name,
                    s.id AS supplier_id, s.head_office_id AS supplier_head_office_id,
                    s.cnpj AS supplier_cnpj, s.name AS supplier_name
             FROM payment_orders o
             JOIN companies p ON p.id = o.payer_id
             JOIN companies s ON s.id = o.supplier_id ",
            $rest
        )
    };
}
pub(super) use select_orders;

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
    row.as_ref().map(order).transpose()
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
    let items: Result<_, Fault> = rows.iter().map(order).collect();
    Ok(Page {
        items: items?,
        total: count(total),
    })
}

/// Reads a row of `select_orders!` back.
pub(super) fn order(row: &PgRow) -> Result<PaymentOrder, Fault> {
    let columns = Columns::of("payment_orders", row);
    let operation: Option<i64> = columns.raw("operation_id")?;
    Ok(PaymentOrder {
        id: columns.number("id", PaymentOrderId::new)?,
        version: columns.number("version", Version::new)?,
        payer: party(columns, &PAYER)?,
        supplier: party(columns, &SUPPLIER)?,
        amount: columns.money("amount_cents")?,
        scheduled_for: columns.optional_parsed("scheduled_for")?,
        operation: operation.and_then(OperationId::new),
        status: columns.parsed("status")?,
        reason: columns.optional_parsed("reason")?,
        created_at: columns.timestamp("created_at")?,
    })
}
