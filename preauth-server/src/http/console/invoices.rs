//! Invoices that suppliers issued and the platform received.

use salvo::async_trait;

use crate::http::StoredText;
use crate::http::pages::words::Words;
use crate::http::platform::invoices::InvoiceShape;
use crate::http::reply::Reply;
use crate::labels;

use super::action_forms::invoices as forms;
use super::action_link::ActionLink;
use super::cell::Cell;
use super::failure::Failure;
use super::frame::Section;
use super::guard::Page;
use super::list::{Column, List};
use super::named_company::party;
use super::record::Record;
use super::visit::Visit;

/// Every invoice.
pub(super) struct All;

impl List for All {
    type Row = InvoiceShape;

    const SECTION: Section = Section::Invoices;
    const PATH: &'static str = "/invoices";

    fn title(&self, w: Words) -> String {
        w.t("Received invoices", "Notas recebidas").to_owned()
    }

    fn source(&self, _visit: &Visit) -> Result<String, Failure> {
        Ok("invoices".to_owned())
    }

    fn columns(&self) -> &'static [Column<InvoiceShape>] {
        const COLUMNS: &[Column<InvoiceShape>] = &[
            Column::new(labels::ID, |it, _| {
                Cell::link(format!("/console/invoices/{}", it.id), it.id)
            }),
            Column::new(labels::NUMBER, |it, _| number(it)),
            Column::new(labels::PAYER, |it, _| {
                Cell::text(it.payer.name.as_str()).and(it.payer.cnpj.masked())
            }),
            Column::new(labels::SUPPLIER, |it, _| {
                Cell::text(it.supplier.name.as_str()).and(it.supplier.cnpj.masked())
            }),
            Column::new(labels::AMOUNT, |it, w| Cell::money(it.invoice.amount, w)),
            Column::new(labels::DUE_DATE, |it, w| Cell::day(it.invoice.due_date, w)),
            Column::new(labels::RECEIVED, |it, w| Cell::time(it.created_at, w)),
        ];
        COLUMNS
    }

    fn action_links(&self, visit: &Visit) -> Vec<ActionLink> {
        forms::RECEIVE.link(visit, &[]).into_iter().collect()
    }
}

fn number(it: &InvoiceShape) -> Cell {
    Cell::maybe(it.invoice.number.as_ref().map(StoredText::as_str))
}

/// The page of an invoice.
pub(super) struct One;

#[async_trait]
impl Page for One {
    async fn show(&self, visit: &Visit) -> Result<Reply, Failure> {
        let w = visit.words;
        let id = visit.id("id")?;
        let it: InvoiceShape = visit.get(format!("invoices/{id}")).await?;
        let title = format!("{} {}", w.t("Received invoice", "Nota recebida"), it.id);
        Record::new(visit, Section::Invoices, title)
            .under(
                "/console/invoices",
                w.t("Received invoices", "Notas recebidas"),
            )
            .fields(vec![
                (labels::NUMBER.of(w.0), number(&it)),
                (labels::PAYER.of(w.0), party(&it.payer)),
                (labels::SUPPLIER.of(w.0), party(&it.supplier)),
                (labels::AMOUNT.of(w.0), Cell::money(it.invoice.amount, w)),
                (labels::DUE_DATE.of(w.0), Cell::day(it.invoice.due_date, w)),
                (labels::RECEIVED.of(w.0), Cell::time(it.created_at, w)),
                (labels::ID.of(w.0), Cell::code(it.id)),
            ])
            .reply()
    }
}
