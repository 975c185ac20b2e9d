//! Invoices that were received, as rows.

use async_trait::async_trait;
use preauth_core::ReceivedInvoice;
use preauth_core::port::{PageRequest, Unavailable};
use preauth_core::value::InvoiceId;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;

use crate::directory::{Invoices, Page};

use super::SqliteStore;
use super::error::{Fault, WriteError};
use super::parties::{PAYER, SUPPLIER, party};
use super::rows::{Columns, clamped, count};

/// Every column of an invoice with its parties, before `$rest`.
macro_rules! select_invoices {
    ($rest:literal) => {
        concat!(
            "SELECT i.id, i.amount_cents, i.due_date, i.number, i.received_at,
                    p.id AS payer_id, p.head_office_id AS payer_head_office_id,
                    p.cnpj AS payer_cnpj, p.name AS payer_name,
                    s.id AS supplier_id, s.head_office_id AS supplier_head_office_id,
                    s.cnpj AS supplier_cnpj, s.name AS supplier_name
             FROM invoices i
             JOIN companies p ON p.id = i.payer_id
             JOIN companies s ON s.id = i.supplier_id ",
            $rest
        )
    };
}

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

/// Keeps an invoice. A conflict when its id is taken.
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
    row.as_ref().map(invoice).transpose()
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
    let items: Result<_, Fault> = rows.iter().map(invoice).collect();
    Ok(Page {
        items: items?,
        total: count(total),
    })
}

fn invoice(row: &SqliteRow) -> Result<ReceivedInvoice, Fault> {
    let columns = Columns::of("invoices", row);
    Ok(ReceivedInvoice {
        id: columns.number("id", InvoiceId::new)?,
        payer: party(columns, &PAYER)?,
        supplier: party(columns, &SUPPLIER)?,
        amount: columns.money("amount_cents")?,
        due_date: columns.parsed("due_date")?,
        number: columns.parsed("number")?,
        received_at: columns.timestamp("received_at")?,
    })
}
