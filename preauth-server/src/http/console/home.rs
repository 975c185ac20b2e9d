//! The first page: what needs attention, and the last days as plots.

use salvo::async_trait;

use crate::http::pages::words::Words;
use crate::http::platform::overview::{
    AttentionShape, CompanyAttentionShape, DayShape, EndingKeyShape, TotalsShape,
};
use crate::http::reply::Reply;
use crate::labels;

use super::cell::Cell;
use super::failure::Failure;
use super::frame::Section;
use super::guard::Page;
use super::plot::{self, Line};
use super::record::{Part, Plot, Record, Table};
use super::visit::Visit;

/// The days that the plots show.
const DAYS: &str = "days=30";

/// The first page.
pub(super) struct Home;

#[async_trait]
impl Page for Home {
    async fn show(&self, visit: &Visit) -> Result<Reply, Failure> {
        let w = visit.words;
        let attention: AttentionShape = visit.get("attention").await?;
        let totals: TotalsShape = visit.get(format!("totals?{DAYS}")).await?;
        let title = w.t("Overview", "Visão geral");
        let mut record = Record::new(visit, Section::Home, title);
        let urgent = urgent(&attention, w);
        let is_calm = urgent.is_empty()
            && attention.failing_endpoints.is_empty()
            && attention.paused_endpoints.is_empty()
            && attention.ending_keys.is_empty();
        if is_calm {
            let calm = w.t("Nothing needs attention.", "Nada precisa de atenção.");
            record = record.notice("good", calm);
        } else if !urgent.is_empty() {
            record = record.part(Part::Fields {
                title: Some(w.t("Needs attention", "Precisa de atenção").to_owned()),
                rows: urgent,
            });
        }
        for (title, found) in [
            (
                w.t("Failing endpoints", "Endpoints com falha"),
                &attention.failing_endpoints,
            ),
            (
                w.t("Paused endpoints", "Endpoints pausados"),
                &attention.paused_endpoints,
            ),
        ] {
            if !found.is_empty() {
                record = record.table(companies(title, found, w));
            }
        }
        if !attention.ending_keys.is_empty() {
            record = record.table(keys(&attention.ending_keys, w));
        }
        let title = w.t("The last 30 days", "Os últimos 30 dias").to_owned();
        record
            .part(Part::Plots {
                title,
                plots: plots(&totals.days, w),
            })
            .table(days(&totals.days, w))
            .reply()
    }
}

/// The numbers that are not zero, each with its list.
fn urgent(it: &AttentionShape, w: Words) -> Vec<(&'static str, Cell)> {
    let rows = [
        (
            w.t(
                "deliveries after a failed attempt",
                "entregas depois de uma falha",
            ),
            it.retried_deliveries,
            "/console/deliveries?wait=AFTER_FAILURE",
        ),
        (
            w.t("overdue deliveries", "entregas atrasadas"),
            it.overdue_deliveries,
            "/console/deliveries?wait=OVERDUE",
        ),
        (
            w.t(
                "deliveries given up in 24 h",
                "entregas abandonadas em 24 h",
            ),
            it.failed_deliveries,
            "/console/deliveries?status=FAILED",
        ),
        (
            w.t("held mails", "e-mails retidos"),
            it.held_mails,
            "/console/mails?status=HELD",
        ),
        (
            w.t("mails given up in 24 h", "e-mails abandonados em 24 h"),
            it.failed_mails,
            "/console/mails?status=FAILED",
        ),
    ];
    let some = rows.into_iter().filter(|(_, number, _)| *number > 0);
    some.map(|(label, number, href)| (label, Cell::link(href, w.number(&number))))
        .collect()
}

fn companies(title: &str, found: &[CompanyAttentionShape], w: Words) -> Table {
    let row = |it: &CompanyAttentionShape| {
        vec![
            Cell::link(format!("/console/companies/{}", it.company_id), &it.name),
            Cell::time(it.since, w),
        ]
    };
    Table {
        title: title.to_owned(),
        head: vec![labels::COMPANY.of(w.0), w.t("since", "desde")],
        rows: found.iter().map(row).collect(),
        more: None,
    }
}

fn keys(found: &[EndingKeyShape], w: Words) -> Table {
    let row = |it: &EndingKeyShape| {
        vec![
            Cell::link(format!("/console/companies/{}", it.company_id), &it.name),
            Cell::time(it.expires_at, w),
        ]
    };
    Table {
        title: w
            .t(
                "Keys that end within 30 days",
                "Chaves que vencem em 30 dias",
            )
            .to_owned(),
        head: vec![labels::KEY.of(w.0), labels::EXPIRES.of(w.0)],
        rows: found.iter().map(row).collect(),
        more: None,
    }
}

fn plots(days: &[DayShape], w: Words) -> Vec<Plot> {
    let names: Vec<_> = days.iter().map(|it| short(&it.day, w)).collect();
    let line = |value: fn(&DayShape) -> u64, colour| Line {
        values: days.iter().map(value).collect(),
        colour,
    };
    let plot = |title: &str, lines: &[Line]| Plot {
        title: title.to_owned(),
        svg: plot::draw(&names, lines, w),
    };
    vec![
        plot(
            w.t(
                "Operations begun, and those requested of them",
                "Operações iniciadas, e as solicitadas delas",
            ),
            &[
                line(|it| it.operations, plot::FIRST),
                line(|it| it.requested, plot::SECOND),
            ],
        ),
        plot(
            w.t("Gross amount, in reais", "Valor bruto, em reais"),
            &[line(reais, plot::FIRST)],
        ),
        plot(
            w.t(
                "Deliveries, and those given up",
                "Entregas, e as abandonadas",
            ),
            &[
                line(|it| it.deliveries, plot::FIRST),
                line(|it| it.failed_deliveries, plot::FAILED),
            ],
        ),
    ]
}

fn reais(it: &DayShape) -> u64 {
    u64::try_from(it.amount.cents()).unwrap_or_default() / 100
}

/// A day without its year.
fn short(day: &str, w: Words) -> String {
    let Ok(date) = day.parse::<chrono::NaiveDate>() else {
        return day.to_owned();
    };
    date.format(w.t("%m-%d", "%d/%m")).to_string()
}

/// The same in numbers, for those who do not see the plots.
fn days(days: &[DayShape], w: Words) -> Table {
    let row = |it: &DayShape| {
        let day = it.day.parse::<chrono::NaiveDate>();
        vec![
            day.map_or_else(
                |_| Cell::text(it.day.as_str()),
                |day| Cell::text(w.day(day)).short(),
            ),
            Cell::number(it.operations, w),
            Cell::number(it.requested, w),
            Cell::money(it.amount, w),
            Cell::number(it.deliveries, w),
            Cell::number(it.failed_deliveries, w),
        ]
    };
    let some = |it: &&DayShape| it.operations > 0 || it.deliveries > 0 || it.failed_deliveries > 0;
    Table {
        title: w.t("Totals by day", "Totais por dia").to_owned(),
        head: vec![
            w.t("day", "dia"),
            w.t("operations", "operações"),
            w.t("requested", "solicitadas"),
            labels::AMOUNT.of(w.0),
            w.t("deliveries", "entregas"),
            w.t("given up", "abandonadas"),
        ],
        rows: days.iter().rev().filter(some).map(row).collect(),
        more: None,
    }
}
