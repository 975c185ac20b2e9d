//! Operations: the list, and one of them with everything that happened to it.

use preauth_core::operation::Action;
use preauth_core::value::{OperationId, Status};
use salvo::async_trait;
use salvo::http::Method;

use crate::http::StoredText;
use crate::http::pages::headers::harmless;
use crate::http::pages::words::Words;
use crate::http::platform::Listed;
use crate::http::platform::deliveries::DeliveryShape;
use crate::http::platform::extensions::ExtensionShape;
use crate::http::platform::mails::MailShape;
use crate::http::platform::operations::{HistoryShape, OperationDetails, OperationShape};
use crate::http::platform::payment_orders::PaymentOrderShape;
use crate::http::reply::Reply;
use crate::labels;
use crate::language::Text;

use super::action_form::ActionForm;
use super::action_forms::{extensions, operations, payment_orders};
use super::action_link::ActionLink;
use super::cell::Cell;
use super::closing_reason;
use super::failure::Failure;
use super::frame::Section;
use super::guard::Page;
use super::list::{Column, Filter, FilterKind, List};
use super::named_company::party;
use super::names;
use super::record::{Record, Table};
use super::record_kinds::shortened_cell;
use super::visit::Visit;

/// The rows of each table on the page of an operation.
const SHOWN: &str = "limit=20";

/// Every operation.
pub(super) struct All;

impl List for All {
    type Row = OperationShape;

    const SECTION: Section = Section::Operations;
    const PATH: &'static str = "/operations";

    fn title(&self, w: Words) -> String {
        w.t("Operations", "Operações").to_owned()
    }

    fn source(&self, _visit: &Visit) -> Result<String, Failure> {
        Ok("operations".to_owned())
    }

    fn filters(&self) -> &'static [Filter] {
        const FILTERS: &[Filter] = &[
            Filter {
                name: "id",
                label: labels::ID,
                kind: FilterKind::Id,
            },
            Filter {
                name: "status",
                label: labels::STATUS,
                kind: FilterKind::Choice(|| Status::ALL.iter().map(|it| it.as_str()).collect()),
            },
            Filter {
                name: "cnpj",
                label: Text::new(
                    "CNPJ of payer or supplier",
                    "CNPJ da pagadora ou do fornecedor",
                ),
                kind: FilterKind::Text,
            },
            Filter {
                name: "invoiceNumber",
                label: Text::new("invoice number", "número da nota"),
                kind: FilterKind::Text,
            },
            Filter {
                name: "externalReference",
                label: labels::EXTERNAL_REFERENCE,
                kind: FilterKind::Text,
            },
            Filter {
                name: "from",
                label: Text::new("begun from", "iniciada de"),
                kind: FilterKind::Day { is_end: false },
            },
            Filter {
                name: "until",
                label: Text::new("to", "até"),
                kind: FilterKind::Day { is_end: true },
            },
        ];
        FILTERS
    }

    fn columns(&self) -> &'static [Column<OperationShape>] {
        const COLUMNS: &[Column<OperationShape>] = &[
            Column::new(labels::ID, |it, _| Cell::link(path(it.id), it.id)),
            Column::new(labels::STATUS, |it, w| Cell::badge(&it.status, w)),
            Column::new(labels::PAYER, |it, _| Cell::text(it.payer.name.as_str())),
            Column::new(labels::SUPPLIER, |it, _| {
                Cell::text(it.supplier.name.as_str())
            }),
            Column::new(labels::INVOICE, |it, _| {
                Cell::maybe(it.invoice.number.as_deref()).short()
            }),
            Column::new(labels::AMOUNT, |it, w| {
                Cell::money(it.invoice.amount.money(), w)
            }),
            Column::new(labels::DUE_DATE, |it, w| Cell::day(it.invoice.due_date, w)),
            Column::new(labels::CREATED, |it, w| Cell::time(it.created_at, w)),
        ];
        COLUMNS
    }

    fn action_links(&self, visit: &Visit) -> Vec<ActionLink> {
        operations::ADVANCE.link(visit, &[]).into_iter().collect()
    }
}

/// The page of an operation.
pub(super) fn path(id: OperationId) -> String {
    format!("/console/operations/{id}")
}

/// The page of one of them.
pub(super) struct One;

#[async_trait]
impl Page for One {
    async fn show(&self, visit: &Visit) -> Result<Reply, Failure> {
        let w = visit.words;
        let id = visit.id("id")?;
        let details: OperationDetails = visit.get(format!("operations/{id}")).await?;
        let about = format!("operationId={id}&{SHOWN}");
        let deliveries = visit.get(format!("deliveries?{about}")).await?;
        let mails = visit.get(format!("notices?{about}")).await?;
        let orders = visit.get(format!("payment-orders?{about}")).await?;
        let it = &details.operation;
        let title = format!("{} {}", w.t("Operation", "Operação"), it.id);
        let mut record = Record::new(visit, Section::Operations, title)
            .under("/console/operations", w.t("Operations", "Operações"))
            .badge(names::badge(it.status.as_str(), w))
            .action_links(possible(visit, &details))
            .fields(fields(&details, w));
        if let Some(missing) = details.unreadable_events {
            let text = w.t(
                "events of this operation cannot be read by this server",
                "eventos desta operação não podem ser lidos por este servidor",
            );
            record = record.notice("wait", format!("{missing} {text}"));
        }
        record
            .table(timeline(&details.history, w))
            .table(whole(deliveries_table(&deliveries, w), "deliveries", id, w))
            .table(whole(mails_table(&mails, w), "mails", id, w))
            .table(whole(orders_table(&orders, w), "payment-orders", id, w))
            .table(extensions_table(visit, &details.extensions, w))
            .live(true)
            .reply()
    }
}

/// The forms of what is possible now: the API reports which actions the present state permits.
fn possible(visit: &Visit, details: &OperationDetails) -> Vec<ActionLink> {
    let id = details.operation.id.to_string();
    let known = details.possible_actions.iter().filter_map(|it| it.known());
    let mut links: Vec<_> = known
        .filter_map(|action| form_of(*action)?.link(visit, &[("id", &id)]))
        .collect();
    if details.operation.status.known() == Some(&Status::ToPay) {
        links.extend(payment_orders::ADD_FOR_OPERATION.link(visit, &[("id", &id)]));
    }
    links
}

/// The form of an action; extensions have forms of their own, and some actions are not an operator's.
const fn form_of(action: Action) -> Option<&'static ActionForm> {
    Some(match action {
        Action::Request => &operations::REQUEST,
        Action::Decline => &operations::DECLINE,
        Action::Withdraw => &operations::WITHDRAW,
        Action::Verify => &operations::VERIFY,
        Action::Approve => &operations::APPROVE,
        Action::Release => &operations::RELEASE,
        Action::Pay => &operations::PAY,
        Action::ReturnPayout => &operations::RETURN_PAYOUT,
        Action::Bill => &operations::BILL,
        Action::Conclude => &operations::CONCLUDE,
        Action::ReproveByCompany => &operations::REPROVE_BY_COMPANY,
        Action::ReproveByPlatform => &operations::REPROVE_BY_PLATFORM,
        Action::Reopen => &operations::REOPEN,
        Action::CreateExtension => &extensions::ADD,
        Action::Offer
        | Action::AdvanceDirectly
        | Action::Cancel
        | Action::Expire
        | Action::ConcludeExtension
        | Action::CancelExtension => return None,
    })
}

fn fields(details: &OperationDetails, w: Words) -> Vec<(&'static str, Cell)> {
    let it = &details.operation;
    let mut rows = vec![
        (labels::ORIGIN.of(w.0), Cell::name(it.origin.as_str(), w)),
        (labels::PAYER.of(w.0), party(&it.payer)),
        (labels::SUPPLIER.of(w.0), party(&it.supplier)),
        (
            labels::INVOICE.of(w.0),
            Cell::maybe(it.invoice.number.as_deref()),
        ),
        (
            labels::AMOUNT.of(w.0),
            Cell::money(it.invoice.amount.money(), w),
        ),
        (
            labels::WITHHELD_TAX.of(w.0),
            Cell::money(it.invoice.withheld_tax_amount.money(), w),
        ),
        (labels::NET_AMOUNT.of(w.0), Cell::money(it.net_amount, w)),
        (labels::DUE_DATE.of(w.0), Cell::day(it.invoice.due_date, w)),
    ];
    let mut more = |label: Text, cell: Cell| {
        if !matches!(cell, Cell::None) {
            rows.push((label.of(w.0), cell));
        }
    };
    more(labels::BOLETO_DUE_DATE, Cell::day(it.boleto_due_date, w));
    let reference = it.external_reference.as_ref().map(StoredText::as_str);
    more(labels::EXTERNAL_REFERENCE, Cell::maybe(reference));
    let reason = it.reason.as_deref();
    let reason = reason.map(|reason| closing_reason::shown(reason, w));
    more(labels::CLOSED_BECAUSE, Cell::maybe(reason));
    if let Some(stage) = &it.stage {
        more(labels::CLOSED_AT_STAGE, Cell::name(stage.as_str(), w));
    }
    more(labels::CREATED, Cell::time(it.created_at, w));
    // What was requested, or is closed, expires no more.
    if it.status.known() == Some(&Status::InPreAuth) {
        more(labels::EXPIRES, Cell::time(it.expires_at, w));
    }
    if let Some(file) = &details.invoice_file {
        let href = format!("{}/invoice-file", path(it.id));
        let kib = file.size.div_ceil(1024);
        more(
            labels::INVOICE_FILE,
            Cell::link(href, &file.name).and(format!("{} KiB", w.number(&kib))),
        );
    }
    rows
}

fn timeline(history: &[HistoryShape], w: Words) -> Table {
    let row = |event: &HistoryShape| {
        let operator = event.operator.as_ref();
        vec![
            Cell::time(event.at, w),
            Cell::coded(event.r#type.as_str(), names::name(event.r#type.as_str(), w)),
            Cell::name(event.actor.kind.as_str(), w),
            operator.map_or(Cell::None, |it| {
                Cell::text(it.name.as_str()).and(it.address.clone())
            }),
            operator.map_or(Cell::None, |it| shortened_cell(&it.request_id)),
        ]
    };
    Table {
        title: labels::HISTORY.of(w.0).to_owned(),
        head: [
            labels::AT,
            labels::EVENT,
            labels::BY,
            labels::OPERATOR,
            labels::REQUEST_ID,
        ]
        .map(|it| it.of(w.0))
        .to_vec(),
        rows: history.iter().rev().map(row).collect(),
        more: None,
    }
}

/// The beginning of a list, with a link to the list of this operation.
fn whole(table: Table, list: &str, id: &str, w: Words) -> Table {
    let href = format!("/console/{list}?operationId={id}");
    let more = (href, w.t("The whole list", "A lista inteira"));
    Table {
        more: (!table.rows.is_empty()).then_some(more),
        ..table
    }
}

fn deliveries_table(found: &Listed<DeliveryShape>, w: Words) -> Table {
    let row = |it: &DeliveryShape| {
        vec![
            Cell::link(
                format!("/console/deliveries/{}", it.id),
                names::name(it.event_type.as_str(), w),
            ),
            Cell::badge(&it.status, w),
            Cell::number(u64::try_from(it.attempts.len()).unwrap_or_default(), w),
            Cell::time(it.next_attempt_at, w),
            Cell::time(it.created_at, w),
        ]
    };
    Table {
        title: w.t("Deliveries", "Entregas").to_owned(),
        head: [
            labels::EVENT,
            labels::STATUS,
            labels::ATTEMPTS_MADE,
            labels::NEXT_ATTEMPT,
            labels::CREATED,
        ]
        .map(|it| it.of(w.0))
        .to_vec(),
        rows: found.data.iter().map(row).collect(),
        more: None,
    }
}

fn mails_table(found: &Listed<MailShape>, w: Words) -> Table {
    let row = |it: &MailShape| {
        vec![
            Cell::link(
                format!("/console/mails/{}", it.id),
                names::name(it.kind.as_str(), w),
            ),
            Cell::masculine_badge(&it.status, w),
            Cell::text(it.recipient.as_str()),
            Cell::time(it.created_at, w),
        ]
    };
    Table {
        title: w.t("Mails", "E-mails").to_owned(),
        head: [
            labels::KIND,
            labels::STATUS,
            labels::RECIPIENT,
            labels::CREATED,
        ]
        .map(|it| it.of(w.0))
        .to_vec(),
        rows: found.data.iter().map(row).collect(),
        more: None,
    }
}

fn orders_table(found: &Listed<PaymentOrderShape>, w: Words) -> Table {
    let row = |it: &PaymentOrderShape| {
        vec![
            Cell::link(format!("/console/payment-orders/{}", it.id), it.id),
            Cell::badge(&it.status, w),
            Cell::money(it.amount, w),
            Cell::day(it.scheduled_for, w),
        ]
    };
    Table {
        title: w.t("Payment orders", "Ordens de pagamento").to_owned(),
        head: [
            labels::ID,
            labels::STATUS,
            labels::AMOUNT,
            labels::SCHEDULED_FOR,
        ]
        .map(|it| it.of(w.0))
        .to_vec(),
        rows: found.data.iter().map(row).collect(),
        more: None,
    }
}

fn extensions_table(visit: &Visit, found: &[ExtensionShape], w: Words) -> Table {
    let row = |it: &ExtensionShape| {
        let id = it.id.to_string();
        let is_open = it.status.as_str() == "OPEN";
        let forms = [&extensions::CONCLUDE, &extensions::CANCEL];
        let links = forms.into_iter().filter(|_| is_open);
        let links = links.filter_map(|form| form.link(visit, &[("id", &id)]));
        vec![
            Cell::code(it.id),
            Cell::badge(&it.status, w),
            Cell::day(it.new_due_date, w),
            Cell::money(it.total_amount, w),
            Cell::ActionLinks(links.collect()),
        ]
    };
    Table {
        title: w.t("Extensions", "Prorrogações").to_owned(),
        head: vec![
            labels::ID.of(w.0),
            labels::STATUS.of(w.0),
            labels::NEW_DUE_DATE.of(w.0),
            labels::TOTAL_AMOUNT.of(w.0),
            w.t("actions", "ações"),
        ],
        rows: found.iter().map(row).collect(),
        more: None,
    }
}

/// The file that came with the offer. Its content is a stranger's: it is downloaded, never shown.
pub(super) struct InvoiceFile;

#[async_trait]
impl Page for InvoiceFile {
    async fn show(&self, visit: &Visit) -> Result<Reply, Failure> {
        let path = format!("operations/{}/invoice-file", visit.id("id")?);
        let reply = visit.raw(Method::GET, path, None, None).await?;
        Ok(harmless(reply).header("cache-control", "no-store"))
    }
}
