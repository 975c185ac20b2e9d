//! The first page: what needs attention, and the last days as plots.

use salvo::async_trait;

use crate::http::pages::words::Words;
use crate::http::platform::overview::{AttentionShape, CompanyAttentionShape, EndingKeyShape};
use crate::http::platform::reports::ReportShape;
use crate::http::reply::Reply;
use crate::labels;

use super::cell::Cell;
use super::failure::Failure;
use super::frame::Section;
use super::guard::Page;
use super::health;
use super::named_company::NamedCompanies;
use super::record::{Part, Record, Table};
use super::reports;
use super::visit::Visit;

/// Rows of each table: the API reports no more.
const SHOWN: usize = 20;

/// The first page.
pub(super) struct Home;

#[async_trait]
impl Page for Home {
    async fn show(&self, visit: &Visit) -> Result<Reply, Failure> {
        let w = visit.words;
        let attention: AttentionShape = visit.get("attention").await?;
        let report: ReportShape = visit.get("reports").await?;
        let title = w.t("Overview", "Visão geral");
        let mut record = Record::new(visit, Section::Home, title);
        let mut urgent = urgent(&attention, w);
        // Of this instance alone: the numbers are those of all that share the database.
        let troubles = health::troubles(visit).await.into_iter();
        let label = w.t("this instance", "esta instância");
        urgent.splice(
            0..0,
            troubles.map(|(_, text)| (label, Cell::link(health::PATH, text))),
        );
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
        for (title, found, more) in [
            (
                w.t("Failing endpoints", "Endpoints com falha"),
                &attention.failing_endpoints,
                (
                    "/console/deliveries?wait=AFTER_FAILURE",
                    w.t(
                        "These are the 20 that have failed the longest; all their deliveries",
                        "Estes são os 20 que falham há mais tempo; todas as entregas deles",
                    ),
                ),
            ),
            (
                w.t("Paused endpoints", "Endpoints pausados"),
                &attention.paused_endpoints,
                (
                    "/console/deliveries?status=PAUSED",
                    w.t(
                        "These are the 20 that were paused first; all deliveries that wait for paused ones",
                        "Estes são os 20 pausados há mais tempo; todas as entregas à espera de pausados",
                    ),
                ),
            ),
        ] {
            if !found.is_empty() {
                record = record.table(Table {
                    more: more_than_shown(found.len(), more),
                    ..companies(title, found, w)
                });
            }
        }
        if !attention.ending_keys.is_empty() {
            record = record.table(keys(&attention.ending_keys, visit).await?);
        }
        let title = w.t("The last 30 days", "Os últimos 30 dias").to_owned();
        record
            .part(Part::Plots {
                title,
                plots: reports::plots(&report.rows, w),
            })
            .table(reports::table(&report, w))
            .reply()
    }
}

/// The numbers that are not zero, each with its list. Lists of what was given up have no beginning in time.
fn urgent(it: &AttentionShape, w: Words) -> Vec<(&'static str, Cell)> {
    let rows = [
        (
            w.t(
                "deliveries after a failed attempt",
                "entregas depois de uma falha",
            ),
            it.retried_deliveries,
            "/console/deliveries?wait=AFTER_FAILURE",
            None,
        ),
        (
            w.t("overdue deliveries", "entregas atrasadas"),
            it.overdue_deliveries,
            "/console/deliveries?wait=OVERDUE",
            None,
        ),
        (
            w.t(
                "deliveries given up in 24 h",
                "entregas abandonadas em 24 h",
            ),
            it.failed_deliveries,
            "/console/deliveries?status=FAILED",
            Some(w.t("among all that failed", "entre todas com falha")),
        ),
        (
            w.t("held mails", "e-mails retidos"),
            it.held_mails,
            "/console/mails?status=HELD",
            None,
        ),
        (
            w.t("mails given up in 24 h", "e-mails abandonados em 24 h"),
            it.failed_mails,
            "/console/mails?status=FAILED",
            Some(w.t("among all that failed", "entre todos com falha")),
        ),
    ];
    let some = rows.into_iter().filter(|(_, number, ..)| *number > 0);
    some.map(|(label, number, href, among)| {
        let link = Cell::link(href, w.number(&number));
        let cell = match among {
            Some(among) => link.and(among),
            None => link,
        };
        (label, cell)
    })
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

async fn keys(found: &[EndingKeyShape], visit: &Visit) -> Result<Table, Failure> {
    let w = visit.words;
    let mut named = NamedCompanies::default();
    let mut rows = Vec::with_capacity(found.len());
    for it in found {
        rows.push(vec![
            Cell::link(format!("/console/api-keys/{}", it.id), &it.name),
            named.cell(visit, Some(it.company_id)).await?,
            Cell::time(it.expires_at, w),
        ]);
    }
    Ok(Table {
        title: w
            .t(
                "Keys that end within 30 days",
                "Chaves que vencem em 30 dias",
            )
            .to_owned(),
        head: [labels::KEY, labels::COMPANY, labels::EXPIRES]
            .map(|it| it.of(w.0))
            .to_vec(),
        rows,
        more: more_than_shown(
            found.len(),
            (
                "/console/companies",
                w.t(
                    "These are the 20 that end first; each company's page has its keys",
                    "Estas são as 20 que vencem primeiro; a página de cada empresa tem as chaves dela",
                ),
            ),
        ),
    })
}

/// Where the others are, if there may be others.
fn more_than_shown(
    found: usize,
    (href, text): (&str, &'static str),
) -> Option<(String, &'static str)> {
    (found >= SHOWN).then(|| (href.to_owned(), text))
}
