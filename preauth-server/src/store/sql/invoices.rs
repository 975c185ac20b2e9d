//! Received invoices.

use async_trait::async_trait;
use preauth_core::ReceivedInvoice;
use preauth_core::port::{PageRequest, Unavailable};
use preauth_core::value::InvoiceId;

use crate::directory::{Invoices, Page};
use crate::store::error::Fault;
use crate::store::page_window::Window;
use crate::store::rows::{clamped, invoice, select_invoices};

use super::{Builder, Database, Listed, Session, newest, query};

#[async_trait]
impl<D: Database> Invoices for D {
    async fn reserve_invoice(&self) -> Result<InvoiceId, Unavailable> {
        Ok(self.next_invoice().await?)
    }

    async fn invoice(&self, id: InvoiceId) -> Result<Option<ReceivedInvoice>, Unavailable> {
        let found = self.read(&id, |session, id| Box::pin(by_id(session, *id)));
        Ok(found.await?)
    }

    async fn invoices(&self, page: PageRequest) -> Result<Page<ReceivedInvoice>, Unavailable> {
        let found = self.read_snapshot(&page, |session, page| Box::pin(list(session, *page)));
        Ok(found.await?.page(self.set_aside(), invoice))
    }
}

async fn by_id(session: &mut dyn Session, id: InvoiceId) -> Result<Option<ReceivedInvoice>, Fault> {
    let row = query(select_invoices!("WHERE i.id = $1"))
        .bind(id.get())
        .fetch_optional(session)
        .await?;
    Ok(row.as_ref().map(invoice).transpose()?)
}

async fn list(session: &mut dyn Session, page: PageRequest) -> Result<Listed, Fault> {
    let total = query("SELECT count(*) AS total FROM invoices")
        .total(session)
        .await?;
    let (order, skip, take) = match Window::of(page, total) {
        Window::Empty => return Ok(Listed::whole(Vec::new(), total)),
        Window::FromNewest { skip, take } => ("DESC", skip, take),
        Window::FromOldest { skip, take } => ("ASC", skip, take),
    };
    // Of the invoices before the page only the ids are read.
    let mut query = Builder::new("");
    let invoices = (select_invoices!("WHERE i.id"), "i");
    newest::among(&mut query, session.dialect(), invoices, |ids| {
        ids.push("SELECT id FROM invoices ORDER BY id ").push(order);
        ids.push(" LIMIT ").bind(clamped(take));
        ids.push(" OFFSET ").bind(clamped(skip));
    });
    query.push(" ORDER BY i.id DESC");
    let rows = query.build().fetch_all(session).await?;
    Ok(Listed::whole(rows, total))
}
