//! What happened, by day or month: plots, a table and a CSV file.

use chrono::NaiveDate;
use preauth_core::ErrorCode;
use salvo::async_trait;
use salvo::http::StatusCode;

use crate::csv;
use crate::http::pages::words::Words;
use crate::http::platform::reports::{ReportRowShape, ReportShape};
use crate::http::reply::Reply;
use crate::labels;
use crate::language::{Language, Text};

use super::cell::Cell;
use super::failure::Failure;
use super::frame::Section;
use super::guard::Page;
use super::list::{Column, pair};
use super::list_file::csv_file;
use super::plot::{self, Line};
use super::problems::Problems;
use super::record::{Part, Plot, Record, Table};
use super::report_form;
use super::visit::Visit;

const PATH: &str = "/console/reports";
/// Maximum number of requests, of 100 rows each, for a page.
const PAGE_REQUESTS: usize = 10;
/// The same for a CSV file.
const CSV_REQUESTS: usize = 1_000;

/// The page.
pub(super) struct Reports;

#[async_trait]
impl Page for Reports {
    async fn show(&self, visit: &Visit) -> Result<Reply, Failure> {
        let w = visit.words;
        let query = report_form::api_query(visit);
        let record = Record::new(visit, Section::Reports, w.t("Reports", "Relatórios"));
        let report = match gathered(visit, &query, PAGE_REQUESTS).await {
            Ok(report) => report,
            Err(Failure::Api(error)) if error.code == ErrorCode::ValidationError => {
                let mut problems = Problems::of(&error);
                let form = report_form::form(visit, None, Some(&mut problems));
                return record
                    .notice("bad", problems.rest(w).join(" "))
                    .part(form)
                    .reply_as(StatusCode::BAD_REQUEST);
            }
            Err(failure) => return Err(failure),
        };
        let record = match &report.next {
            Some(_) => record.notice("wait", there_are_more(&report, w)),
            None => record,
        };
        let of_company = visit.query.one(report_form::COMPANY);
        let of_company = of_company.map(|id| pair(report_form::COMPANY, id));
        let of_company = of_company.unwrap_or_default();
        let record = record
            .part(report_form::form(visit, Some(&report), None))
            .fields(views(&query, &of_company, w));
        // A row for each period makes a line; those of many companies do not.
        let is_series =
            !of_company.is_empty() || report.rows.iter().all(|it| it.company_id.is_none());
        let record = if is_series && !report.rows.is_empty() {
            let [since, until] = [&report.since, &report.until].map(|it| period(it, w));
            record.part(Part::Plots {
                title: format!("{since} – {until}"),
                plots: plots(&report.rows, w),
            })
        } else {
            record
        };
        let incoming = w.t(
            "Figures: offers, requests and deliveries",
            "Números: ofertas, solicitações e entregas",
        );
        let outcomes = w.t(
            "Figures: what became of them",
            "Números: o que houve com elas",
        );
        let columns = OF_OFFERS.iter().chain(OF_DELIVERIES);
        record
            .table(figures(incoming, columns, &report, w))
            .table(figures(outcomes, OF_OUTCOMES, &report, w))
            .reply()
    }
}

/// What else is shown by a click.
fn views(query: &str, of_company: &str, w: Words) -> Vec<(&'static str, Cell)> {
    let link = |query: &str, text: &str| {
        Cell::link(format!("{PATH}?{query}{of_company}"), text.to_owned())
    };
    vec![
        (
            w.t("rows", "linhas"),
            link("", w.t("by day, 30 days", "por dia, 30 dias")),
        ),
        (
            "",
            link("by=MONTH&", w.t("by month, 12 months", "por mês, 12 meses")),
        ),
        (
            "",
            Cell::link(
                format!("{PATH}?by=MONTH&perCompany=true"),
                w.t("by month and company", "por mês e empresa"),
            ),
        ),
        (
            w.t("file", "arquivo"),
            Cell::link(format!("{PATH}.csv?{query}"), "CSV"),
        ),
    ]
}

/// The same as a CSV file.
pub(super) struct ReportFile;

#[async_trait]
impl Page for ReportFile {
    async fn show(&self, visit: &Visit) -> Result<Reply, Failure> {
        let w = visit.words;
        let query = report_form::api_query(visit);
        let report = gathered(visit, &query, CSV_REQUESTS).await?;
        if report.next.is_some() {
            return Record::new(visit, Section::Reports, w.t("Reports", "Relatórios"))
                .notice("bad", too_long(w))
                .part(report_form::form(visit, Some(&report), None))
                .reply_as(StatusCode::BAD_REQUEST);
        }
        let titles = columns().map(|it| it.title.of(w.0).to_owned());
        let mut file = format!("{}{}", csv::MARK, csv::line(titles, w.0));
        for row in &report.rows {
            let cells = columns().map(|it| (it.cell)(row, w).plain());
            file.push_str(&csv::line(cells, w.0));
        }
        Ok(csv_file("reports", file))
    }
}

/// The report with the rows of so many requests; `next` is left if there are more.
async fn gathered(visit: &Visit, query: &str, requests: usize) -> Result<ReportShape, Failure> {
    let mut report: ReportShape = visit.get(format!("reports?{query}")).await?;
    for _ in 1..requests {
        let Some(next) = report.next.take() else {
            break;
        };
        let after = pair("after", &next);
        let more: ReportShape = visit.get(format!("reports?{query}{after}")).await?;
        report.rows.extend(more.rows);
        report.next = more.next;
    }
    Ok(report)
}

fn there_are_more(report: &ReportShape, w: Words) -> String {
    let last = report.rows.last().map(|it| period(&it.period, w));
    let last = last.unwrap_or_default();
    match w.0 {
        Language::English => format!(
            "The tables end with rows of {last}: there are more. The CSV file has all of them; or choose one company, or a shorter time."
        ),
        Language::Portuguese => format!(
            "As tabelas terminam em linhas de {last}: há mais. O arquivo CSV tem todas; ou escolha uma empresa, ou um período menor."
        ),
    }
}

fn too_long(w: Words) -> &'static str {
    w.t(
        "No file was made: it would have more than 100,000 rows. Choose one company, or a shorter time; `preauth-server report --csv` has no limit.",
        "Nenhum arquivo foi gerado: ele teria mais de 100.000 linhas. Escolha uma empresa, ou um período menor; `preauth-server report --csv` não tem limite.",
    )
}

const PERIOD: Column<ReportRowShape> = Column::new(Text::new("period", "período"), |it, w| {
    Cell::Period(period(&it.period, w), it.period.clone())
});
const COMPANY: Column<ReportRowShape> = Column::new(labels::COMPANY, |it, _| {
    let name = it.company_name.as_deref().unwrap_or_default();
    it.company_id.map_or(Cell::None, |id| {
        Cell::link(format!("/console/companies/{id}"), name)
    })
});

/// How much there was to do.
const OF_OFFERS: &[Column<ReportRowShape>] = &[
    Column::new(labels::OFFERS, |it, w| Cell::number(it.activity.offers, w)),
    Column::new(labels::OFFERED_AMOUNT, |it, w| {
        Cell::money(it.activity.offered_amount, w)
    }),
    Column::new(labels::DIRECT_ADVANCES, |it, w| {
        Cell::number(it.activity.direct_advances, w)
    }),
    Column::new(labels::REQUESTS, |it, w| {
        Cell::number(it.activity.requests, w)
    }),
    Column::new(labels::REQUESTED_AMOUNT, |it, w| {
        Cell::money(it.activity.requested_amount, w)
    }),
];

/// What became of it.
const OF_OUTCOMES: &[Column<ReportRowShape>] = &[
    Column::new(labels::DECLINED, |it, w| {
        Cell::number(it.activity.declined, w)
    }),
    Column::new(labels::CANCELED, |it, w| {
        Cell::number(it.activity.revoked, w)
    }),
    Column::new(labels::EXPIRED, |it, w| {
        Cell::number(it.activity.expired, w)
    }),
    Column::new(labels::REPROVED, |it, w| {
        Cell::number(it.activity.reproved, w)
    }),
    Column::new(labels::PAYOUTS, |it, w| Cell::number(it.activity.paid, w)),
    Column::new(labels::PAID_AMOUNT, |it, w| {
        Cell::money(it.activity.paid_amount, w)
    }),
    Column::new(labels::PAID_NET_AMOUNT, |it, w| {
        Cell::money(it.activity.paid_net_amount, w)
    }),
    Column::new(labels::RETURNED_PAYOUTS, |it, w| {
        Cell::number(it.activity.returned, w)
    }),
];

/// What the dispatcher did.
const OF_DELIVERIES: &[Column<ReportRowShape>] = &[
    Column::new(labels::DELIVERIES, |it, w| {
        Cell::number(it.activity.deliveries, w)
    }),
    Column::new(labels::DELIVERIES_GIVEN_UP, |it, w| {
        Cell::number(it.activity.failed_deliveries, w)
    }),
];

/// What the plots show.
const OF_PLOTS: &[Column<ReportRowShape>] = &[
    Column::new(labels::OFFERS, |it, w| Cell::number(it.activity.offers, w)),
    Column::new(labels::OFFERED_AMOUNT, |it, w| {
        Cell::money(it.activity.offered_amount, w)
    }),
    Column::new(labels::REQUESTS, |it, w| {
        Cell::number(it.activity.requests, w)
    }),
    Column::new(labels::PAID_AMOUNT, |it, w| {
        Cell::money(it.activity.paid_amount, w)
    }),
    Column::new(labels::DELIVERIES, |it, w| {
        Cell::number(it.activity.deliveries, w)
    }),
    Column::new(labels::DELIVERIES_GIVEN_UP, |it, w| {
        Cell::number(it.activity.failed_deliveries, w)
    }),
];

/// What is left, for which a page has no room.
const OF_FILES: &[Column<ReportRowShape>] = &[
    Column::new(labels::DIRECT_AMOUNT, |it, w| {
        Cell::money(it.activity.direct_amount, w)
    }),
    Column::new(labels::RETURNED_NET_AMOUNT, |it, w| {
        Cell::money(it.activity.returned_net_amount, w)
    }),
    Column::new(labels::PAID_ORDERS, |it, w| {
        Cell::number(it.activity.paid_orders, w)
    }),
    Column::new(labels::PAID_ORDERS_AMOUNT, |it, w| {
        Cell::money(it.activity.paid_orders_amount, w)
    }),
];

/// The columns of a file: all of them.
fn columns() -> impl Iterator<Item = &'static Column<ReportRowShape>> {
    [&PERIOD, &COMPANY]
        .into_iter()
        .chain(OF_OFFERS)
        .chain(OF_OUTCOMES)
        .chain(OF_DELIVERIES)
        .chain(OF_FILES)
}

/// The figures of the plots, for those who do not see them, and where all others are.
pub(super) fn table(report: &ReportShape, w: Words) -> Table {
    let all = w.t("All figures", "Todos os números");
    Table {
        more: Some((PATH.to_owned(), all)),
        ..figures(w.t("Figures", "Números"), OF_PLOTS, report, w)
    }
}

/// Figures of each period, the newest first; a day without anything has no row. Of all companies together, none is named.
fn figures(
    title: &str,
    columns: impl IntoIterator<Item = &'static Column<ReportRowShape>>,
    report: &ReportShape,
    w: Words,
) -> Table {
    let has_companies = report.rows.iter().any(|it| it.company_id.is_some());
    let own = [Some(&PERIOD), has_companies.then_some(&COMPANY)];
    let columns: Vec<_> = own.into_iter().flatten().chain(columns).collect();
    let some = |it: &&ReportRowShape| {
        let it = &it.activity;
        let numbers = [
            it.offers,
            it.direct_advances,
            it.requests,
            it.declined,
            it.revoked,
            it.expired,
            it.reproved,
            it.paid,
            it.returned,
            it.paid_orders,
            it.deliveries,
            it.failed_deliveries,
        ];
        numbers.iter().any(|number| *number > 0)
    };
    let row = |it: &ReportRowShape| columns.iter().map(|column| (column.cell)(it, w)).collect();
    Table {
        title: title.to_owned(),
        head: columns.iter().map(|it| it.title.of(w.0)).collect(),
        rows: report.rows.iter().rev().filter(some).map(row).collect(),
        more: None,
    }
}

pub(super) fn plots(rows: &[ReportRowShape], w: Words) -> Vec<Plot> {
    let names: Vec<_> = rows.iter().map(|it| short(&it.period, w)).collect();
    let line = |name: Text, value: fn(&ReportRowShape) -> u64, colour| Line {
        name: name.of(w.0),
        values: rows.iter().map(value).collect(),
        colour,
    };
    let plot = |title: &str, lines: Vec<Line>| Plot {
        title: title.to_owned(),
        svg: plot::draw(&names, &lines, w),
        lines,
    };
    vec![
        plot(
            w.t("Offers, and requests", "Ofertas, e solicitações"),
            vec![
                line(labels::OFFERS, |it| it.activity.offers, plot::FIRST),
                line(labels::REQUESTS, |it| it.activity.requests, plot::SECOND),
            ],
        ),
        plot(
            w.t(
                "Amount offered, and paid, in reais",
                "Valor ofertado, e pago, em reais",
            ),
            vec![
                line(
                    labels::OFFERED_AMOUNT,
                    |it| reais(it.activity.offered_amount),
                    plot::FIRST,
                ),
                line(
                    labels::PAID_AMOUNT,
                    |it| reais(it.activity.paid_amount),
                    plot::SECOND,
                ),
            ],
        ),
        plot(
            w.t(
                "Deliveries, and those given up",
                "Entregas, e as abandonadas",
            ),
            vec![
                line(labels::DELIVERIES, |it| it.activity.deliveries, plot::FIRST),
                line(
                    labels::DELIVERIES_GIVEN_UP,
                    |it| it.activity.failed_deliveries,
                    plot::FAILED,
                ),
            ],
        ),
    ]
}

fn reais(amount: preauth_core::value::Money) -> u64 {
    u64::try_from(amount.cents()).unwrap_or_default() / 100
}

/// A day or a month as the reader writes it.
fn period(iso: &str, w: Words) -> String {
    match iso.parse::<NaiveDate>() {
        Ok(day) => w.day(day),
        Err(_) => month(iso, w),
    }
}

/// A day without its year, or a month.
fn short(iso: &str, w: Words) -> String {
    match iso.parse::<NaiveDate>() {
        Ok(day) => day.format(w.t("%m-%d", "%d/%m")).to_string(),
        Err(_) => month(iso, w),
    }
}

fn month(iso: &str, w: Words) -> String {
    match (w.0, iso.split_once('-')) {
        (Language::Portuguese, Some((year, month))) => format!("{month}/{year}"),
        _ => iso.to_owned(),
    }
}
