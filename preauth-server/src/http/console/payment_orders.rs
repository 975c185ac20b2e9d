//! Orders to pay suppliers.

use preauth_core::value::PaymentOrderStatus;
use salvo::async_trait;

use crate::http::StoredText;
use crate::http::pages::words::Words;
use crate::http::platform::payment_orders::PaymentOrderShape;
use crate::http::reply::Reply;
use crate::labels;

use super::action_forms::payment_orders as forms;
use super::action_link::ActionLink;
use super::cell::Cell;
use super::failure::Failure;
use super::frame::Section;
use super::guard::Page;
use super::list::{Column, Filter, FilterKind, List};
use super::named_company::party;
use super::names;
use super::record::Record;
use super::visit::Visit;

/// Every order.
pub(super) struct All;

impl List for All {
    type Row = PaymentOrderShape;

    const SECTION: Section = Section::PaymentOrders;
    const PATH: &'static str = "/payment-orders";

    fn title(&self, w: Words) -> String {
        w.t("Payment orders", "Ordens de pagamento").to_owned()
    }

    fn source(&self, _visit: &Visit) -> Result<String, Failure> {
        Ok("payment-orders".to_owned())
    }

    fn filters(&self) -> &'static [Filter] {
        const FILTERS: &[Filter] = &[
            Filter {
                name: "status",
                label: labels::STATUS,
                kind: FilterKind::Choice(|| {
                    let statuses = PaymentOrderStatus::ALL.iter();
                    statuses.map(|it| it.as_str()).collect()
                }),
            },
            Filter {
                name: "operationId",
                label: labels::OPERATION,
                kind: FilterKind::Text,
            },
        ];
        FILTERS
    }

    fn columns(&self) -> &'static [Column<PaymentOrderShape>] {
        const COLUMNS: &[Column<PaymentOrderShape>] = &[
            Column::new(labels::ID, |it, _| {
                Cell::link(format!("/console/payment-orders/{}", it.id), it.id)
            }),
            Column::new(labels::STATUS, |it, w| Cell::badge(&it.status, w)),
            Column::new(labels::PAYER, |it, _| Cell::text(it.payer.name.as_str())),
            Column::new(labels::SUPPLIER, |it, _| {
                Cell::text(it.supplier.name.as_str())
            }),
            Column::new(labels::AMOUNT, |it, w| Cell::money(it.amount, w)),
            Column::new(labels::SCHEDULED_FOR, |it, w| {
                Cell::day(it.scheduled_for, w)
            }),
            Column::new(labels::OPERATION, operation),
            Column::new(labels::CREATED, |it, w| Cell::time(it.created_at, w)),
        ];
        COLUMNS
    }

    fn action_links(&self, visit: &Visit) -> Vec<ActionLink> {
        forms::ADD.link(visit, &[]).into_iter().collect()
    }
}

fn operation(it: &PaymentOrderShape, _w: Words) -> Cell {
    it.operation_id
        .map_or(Cell::None, |id| Cell::link(super::operations::path(id), id))
}

/// The page of an order.
pub(super) struct One;

#[async_trait]
impl Page for One {
    async fn show(&self, visit: &Visit) -> Result<Reply, Failure> {
        let w = visit.words;
        let id = visit.id("id")?;
        let it: PaymentOrderShape = visit.get(format!("payment-orders/{id}")).await?;
        let links = forms::STEPS.iter().filter(|(action, _)| {
            let status = it.status.known();
            status.is_some_and(|status| action.transition().from.contains(status))
        });
        let links = links.filter_map(|(_, form)| form.link(visit, &[("id", id)]));
        let title = format!("{} {}", w.t("Payment order", "Ordem de pagamento"), it.id);
        Record::new(visit, Section::PaymentOrders, title)
            .under(
                "/console/payment-orders",
                w.t("Payment orders", "Ordens de pagamento"),
            )
            .badge(names::badge(it.status.as_str(), w))
            .action_links(links)
            .fields(vec![
                (labels::PAYER.of(w.0), party(&it.payer)),
                (labels::SUPPLIER.of(w.0), party(&it.supplier)),
                (labels::AMOUNT.of(w.0), Cell::money(it.amount, w)),
                (
                    labels::SCHEDULED_FOR.of(w.0),
                    Cell::day(it.scheduled_for, w),
                ),
                (labels::OPERATION.of(w.0), operation(&it, w)),
                (
                    labels::REASON.of(w.0),
                    Cell::maybe(it.reason.as_ref().map(StoredText::as_str)),
                ),
                (labels::CREATED.of(w.0), Cell::time(it.created_at, w)),
            ])
            .live(true)
            .reply()
    }
}
