//! Deliveries of webhooks: over all companies, and one with every attempt.

use preauth_core::value::{CompanyId, EventType};
use salvo::async_trait;

use crate::directory::{DeliveryStatus, DeliveryWait};
use crate::http::pages::words::Words;
use crate::http::platform::companies::CompanyShape;
use crate::http::platform::deliveries::{AttemptShape, DeliveryShape};
use crate::http::reply::Reply;
use crate::labels;
use crate::language::Text;

use super::action_forms::webhooks;
use super::attempt_errors;
use super::cell::Cell;
use super::company_list;
use super::failure::Failure;
use super::frame::Section;
use super::guard::Page;
use super::list::{Column, Filter, FilterKind, List};
use super::names;
use super::record::{Record, Table};
use super::resend_many;
use super::ticks::{Tick, TickForm};
use super::visit::Visit;

const FILTERS: &[Filter] = &[
    Filter {
        name: "status",
        label: labels::STATUS,
        kind: FilterKind::Choice(|| DeliveryStatus::ALL.iter().map(|it| it.as_str()).collect()),
    },
    Filter {
        name: "wait",
        label: Text::new("waiting", "em espera"),
        kind: FilterKind::Choice(|| DeliveryWait::ALL.iter().map(|it| it.as_str()).collect()),
    },
    Filter {
        name: "eventType",
        label: labels::EVENT,
        kind: FilterKind::Choice(|| EventType::ALL.iter().map(|it| it.as_str()).collect()),
    },
    Filter {
        name: "operationId",
        label: labels::OPERATION,
        kind: FilterKind::Text,
    },
];

const COLUMNS: &[Column<DeliveryShape>] = &[
    Column::new(labels::EVENT, |it, w| {
        let name = names::name(it.event_type.as_str(), w);
        Cell::link(format!("/console/deliveries/{}", it.id), name)
    }),
    Column::new(labels::STATUS, |it, w| Cell::badge(&it.status, w)),
    Column::new(labels::OPERATION, |it, _| {
        it.operation_id
            .map_or(Cell::None, |id| Cell::link(super::operations::path(id), id))
    }),
    Column::new(labels::ATTEMPTS_MADE, |it, w| {
        Cell::number(u64::try_from(it.attempts.len()).unwrap_or_default(), w)
    }),
    Column::new(labels::LAST_ANSWER, |it, w| {
        let last = it.attempts.last();
        last.map_or(Cell::None, |attempt| outcome(attempt, w))
    }),
    Column::new(labels::NEXT_ATTEMPT, |it, w| {
        Cell::time(it.next_attempt_at, w)
    }),
    Column::new(labels::CREATED, |it, w| Cell::time(it.created_at, w)),
];

/// Everybody's deliveries.
pub(super) struct All;

impl List for All {
    type Row = DeliveryShape;

    const SECTION: Section = Section::Deliveries;
    const PATH: &'static str = "/deliveries";
    const COMPANY: Option<(usize, Text)> = Some((2, labels::COMPANY));

    fn title(&self, w: Words) -> String {
        w.t("Deliveries", "Entregas").to_owned()
    }

    fn source(&self, _visit: &Visit) -> Result<String, Failure> {
        Ok("deliveries".to_owned())
    }

    fn filters(&self) -> &'static [Filter] {
        FILTERS
    }

    fn columns(&self) -> &'static [Column<DeliveryShape>] {
        COLUMNS
    }

    fn company(&self, it: &DeliveryShape) -> Option<CompanyId> {
        Some(it.company_id)
    }

    fn tick_form(&self, visit: &Visit) -> Option<TickForm> {
        resend_many::tick_form(visit)
    }

    fn tick(&self, it: &DeliveryShape, w: Words) -> Option<Tick> {
        Some(tick(it, w))
    }
}

fn tick(it: &DeliveryShape, w: Words) -> Tick {
    let name = names::name(it.event_type.as_str(), w);
    let operation = it.operation_id.map(|id| {
        let operation = labels::OPERATION.of(w.0);
        format!(", {operation} {id}")
    });
    let operation = operation.unwrap_or_default();
    let at = w.time(&it.created_at).local;
    Tick {
        id: it.id.to_string(),
        label: format!("{name}{operation}, {at}"),
    }
}

/// The deliveries of a head office.
pub(super) struct OfCompany;

impl List for OfCompany {
    type Row = DeliveryShape;

    const SECTION: Section = Section::Companies;
    const PATH: &'static str = "/companies/{id}/deliveries";

    fn title(&self, w: Words) -> String {
        w.t("Deliveries of the company", "Entregas da empresa")
            .to_owned()
    }

    fn source(&self, visit: &Visit) -> Result<String, Failure> {
        Ok(format!("companies/{}/deliveries", visit.id("id")?))
    }

    fn filters(&self) -> &'static [Filter] {
        FILTERS
    }

    fn columns(&self) -> &'static [Column<DeliveryShape>] {
        COLUMNS
    }

    fn tick_form(&self, visit: &Visit) -> Option<TickForm> {
        resend_many::tick_form(visit)
    }

    fn tick(&self, it: &DeliveryShape, w: Words) -> Option<Tick> {
        Some(tick(it, w))
    }

    fn action_links(&self, visit: &Visit) -> Vec<super::action_link::ActionLink> {
        let id = visit.id("id").unwrap_or_default();
        let forms = [&webhooks::RESEND_FAILED, &webhooks::RESEND_RANGE];
        let links = forms
            .into_iter()
            .map(|form| form.link(visit, &[("id", id)]));
        links.flatten().collect()
    }

    fn crumb(&self, visit: &Visit) -> Option<(String, String)> {
        Some(company_list::crumb(visit))
    }
}

/// The page of a delivery.
pub(super) struct One;

#[async_trait]
impl Page for One {
    async fn show(&self, visit: &Visit) -> Result<Reply, Failure> {
        let w = visit.words;
        let id = visit.id("id")?;
        let it: DeliveryShape = visit.get(format!("deliveries/{id}")).await?;
        let company: CompanyShape = visit.get(format!("companies/{}", it.company_id)).await?;
        let is_waiting = it.status.as_str() == DeliveryStatus::Pending.as_str();
        Record::new(
            visit,
            Section::Deliveries,
            names::name(it.event_type.as_str(), w),
        )
        .under("/console/deliveries", w.t("Deliveries", "Entregas"))
        .badge(names::badge(it.status.as_str(), w))
        .action_links(webhooks::RESEND.link(visit, &[("id", id)]))
        .fields(fields(&it, &company, w))
        .table(attempts(&it.attempts, w))
        .text(
            w.t("Headers as sent", "Cabeçalhos enviados"),
            headers(&it, w),
        )
        .text(labels::BODY.of(w.0), it.body.as_str())
        .live(is_waiting)
        .reply()
    }
}

fn fields(it: &DeliveryShape, company: &CompanyShape, w: Words) -> Vec<(&'static str, Cell)> {
    let name = company.name.as_ref().map_or("", |name| name.as_str());
    let mut rows = vec![
        (
            labels::COMPANY.of(w.0),
            Cell::link(format!("/console/companies/{}", company.id), name)
                .and(company.cnpj.masked()),
        ),
        (labels::TYPE.of(w.0), Cell::code(it.event_type.as_str())),
    ];
    if let Some(id) = it.operation_id {
        let link = Cell::link(super::operations::path(id), id);
        rows.push((labels::OPERATION.of(w.0), link));
    }
    rows.extend([
        (labels::CREATED.of(w.0), Cell::time(it.created_at, w)),
        (
            labels::NEXT_ATTEMPT.of(w.0),
            Cell::time(it.next_attempt_at, w),
        ),
        (labels::ID.of(w.0), Cell::code(it.id)),
        (labels::EVENT.of(w.0), Cell::code(it.event_id)),
    ]);
    rows
}

/// The headers that are the same in every attempt; the signature is computed anew.
fn headers(it: &DeliveryShape, w: Words) -> String {
    let headers = crate::dispatcher::sent_headers(it.event_id, it.event_type.as_str());
    let mut lines: Vec<_> = headers
        .map(|(name, value)| format!("{name}: {value}"))
        .into();
    let signature = w.t(
        "(computed for each attempt)",
        "(calculada a cada tentativa)",
    );
    lines.push(format!(
        "{}: {signature}",
        crate::dispatcher::SIGNATURE_HEADER
    ));
    lines.join("\n")
}

fn attempts(attempts: &[AttemptShape], w: Words) -> Table {
    let row = |it: &AttemptShape| {
        vec![
            Cell::number(it.number.into(), w),
            Cell::time(it.at, w),
            Cell::name(&it.trigger, w),
            Cell::number(it.duration_ms, w),
            outcome(it, w),
            Cell::maybe(it.response_body.as_deref()),
        ]
    };
    Table {
        title: labels::ATTEMPTS.of(w.0).to_owned(),
        head: [
            labels::ATTEMPT,
            labels::AT,
            labels::BY,
            labels::DURATION,
            labels::HTTP_STATUS,
            labels::ANSWER,
        ]
        .map(|it| it.of(w.0))
        .to_vec(),
        rows: attempts.iter().rev().map(row).collect(),
        more: None,
    }
}

/// The status of the answer, or why there was none.
fn outcome(attempt: &AttemptShape, w: Words) -> Cell {
    let error = attempt.error.as_deref().filter(|error| *error != "STATUS");
    match (attempt.http_status, error) {
        (Some(status), None) => Cell::code(status),
        (Some(status), Some(error)) => Cell::code(status).and(attempt_errors::words(error, w)),
        (None, Some(error)) => attempt_errors::cell(error, w),
        (None, None) => Cell::None,
    }
}
