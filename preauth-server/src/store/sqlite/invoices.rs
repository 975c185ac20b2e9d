//! Received invoices, as rows.

use async_trait::async_trait;
use preauth_core::ReceivedInvoice;
use preauth_core::port::{PageRequest, Unavailable};
use preauth_core::value::InvoiceId;
use sqlx::SqliteConnection;

use crate::directory::{Invoices, Page};
use crate::store::rows::{invoice, select_invoices};

use super::SqliteStore;
use super::rows::{clamped, count};
use crate::store::error::{Fault, WriteError};

#[async_trait]
impl Invoices for SqliteStore {
    async fn reserve_invoice(&self) -> Result<InvoiceId, Unavailable> {
        Ok(self.counters.next_invoice()?)
    }

    async fn invoice(&self, id: InvoiceId) -> Result<Option<ReceivedInvoice>, Unavailable> {
        let mut reader = self.reader().await?;
        Ok(by_id(&mut reader, id).await?)
    }

    async fn invoices(&self, page: PageRequest) -> Result<Page<ReceivedInvoice>, Unavailable> {
        let mut snapshot = self.snapshot().await?;
        Ok(list(&mut snapshot, page).await?)
    }
}

/// Inserts an invoice. A conflict when its id is taken.
pub(super) async fn insert(
    connection: &mut SqliteConnection,
    invoice: &ReceivedInvoice,
) -> Result<(), WriteError> {
    sqlx::query(
        "INSERT INTO invoices (id, head_office_id, payer_id, supplier_id, amount_cents, due_date,
             number, received_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )
    .bind(invoice.id.get())
    .bind(invoice.payer.head_office.as_uuid().as_bytes().as_slice())
    .bind(invoice.payer.company.as_uuid().as_bytes().as_slice())
    .bind(invoice.supplier.company.as_uuid().as_bytes().as_slice())
    .bind(invoice.amount.cents())
    .bind(invoice.due_date.to_string())
    .bind(invoice.number.as_str())
    .bind(invoice.received_at.unix_millis())
    .execute(connection)
    .await?;
    Ok(())
}

async fn by_id(
    connection: &mut SqliteConnection,
    id: InvoiceId,
) -> Result<Option<ReceivedInvoice>, Fault> {
    let row = sqlx::query(select_invoices!("WHERE i.id = ?1"))
        .bind(id.get())
        .fetch_optional(connection)
        .await?;
    Ok(row.as_ref().map(invoice).transpose()?)
}

async fn list(
    connection: &mut SqliteConnection,
    page: PageRequest,
) -> Result<Page<ReceivedInvoice>, Fault> {
    let total = sqlx::query_scalar("SELECT count(*) FROM invoices")
        .fetch_one(&mut *connection)
        .await?;
    let rows = sqlx::query(select_invoices!("ORDER BY i.id DESC LIMIT ?1 OFFSET ?2"))
        .bind(i64::from(page.limit))
        .bind(clamped(page.offset()))
        .fetch_all(connection)
        .await?;
    let items: Result<_, _> = rows.iter().map(invoice).collect();
    Ok(Page {
        items: items?,
        total: count(total),
    })
}
