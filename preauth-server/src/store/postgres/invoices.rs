//! Received invoices.

use async_trait::async_trait;
use preauth_core::ReceivedInvoice;
use preauth_core::port::{PageRequest, Unavailable};
use preauth_core::value::InvoiceId;
use sqlx::PgConnection;

use crate::directory::{Invoices, Page};
use crate::store::rows::{invoice, select_invoices};

use super::rows::{clamped, count};
use super::{PostgresStore, sequences};
use crate::store::error::Fault;

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
    Ok(row.as_ref().map(invoice).transpose()?)
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
    let items: Result<_, _> = rows.iter().map(invoice).collect();
    Ok(Page {
        items: items?,
        total: count(total),
    })
}
