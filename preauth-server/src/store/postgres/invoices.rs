//! Invoices that were received: how they are read back.

use async_trait::async_trait;
use preauth_core::ReceivedInvoice;
use preauth_core::port::{PageRequest, Unavailable};
use preauth_core::value::InvoiceId;
use sqlx::PgConnection;
use sqlx::postgres::PgRow;

use crate::directory::{Invoices, Page};

use super::error::Fault;
use super::parties::{PAYER, SUPPLIER, party};
use super::rows::{Columns, clamped, count};
use super::{PostgresStore, sequences};

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
impl Invoices for PostgresStore {
    async fn reserve_invoice(&self) -> Result<InvoiceId, Unavailable> {
        let reserved = self.read(&(), |connection, ()| {
            Box::pin(sequences::next_invoice(connection))
        });
        Ok(reserved.await?)
    }

    async fn invoice(&self, id: InvoiceId) -> Result<Option<ReceivedInvoice>, Unavailable> {
        let found = self.read(&id, |connection, id| Box::pin(by_id(connection, *id)));
        Ok(found.await?)
    }

    async fn invoices(&self, page: PageRequest) -> Result<Page<ReceivedInvoice>, Unavailable> {
        let found = self.read_snapshot(&page, |connection, page| Box::pin(list(connection, *page)));
        Ok(found.await?)
    }
}

async fn by_id(
    connection: &mut PgConnection,
    id: InvoiceId,
) -> Result<Option<ReceivedInvoice>, Fault> {
    let row = sqlx::query(select_invoices!("WHERE i.id = $1"))
        .bind(id.get())
        .fetch_optional(connection)
        .await?;
    row.as_ref().map(invoice).transpose()
}

async fn list(
    connection: &mut PgConnection,
    page: PageRequest,
) -> Result<Page<ReceivedInvoice>, Fault> {
    let total = sqlx::query_scalar("SELECT count(*) FROM invoices")
        .fetch_one(&mut *connection)
        .await?;
    let rows = sqlx::query(select_invoices!("ORDER BY i.id DESC LIMIT $1 OFFSET $2"))
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

fn invoice(row: &PgRow) -> Result<ReceivedInvoice, Fault> {
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
