//! `GET /reports`: what happened, by day or month and by company.

mod periods;
mod shape;

use std::time::Duration;

use preauth_core::ErrorCode;
use preauth_core::port::PageRequest;
use preauth_core::value::CompanyId;
use salvo::async_trait;
use salvo::http::Request;

use crate::directory::{Company, ReportQuery, ReportScope, ReportUnit};
use crate::http::error::ApiError;
use crate::http::fields::{Problems, one_of};
use crate::http::openapi::described::Described;
use crate::http::openapi::document::Parameter;
use crate::http::openapi::schema::Schema;
use crate::http::problem::{Defect, Problem};
use crate::http::query::Query;
use crate::http::reply::Reply;

use super::endpoint::{Endpoint, existing, ok};
use super::sections::{HEAD_OFFICE, OPERATIONS};
use super::{PlatformApi, Refusal};

use periods::Range;
pub(crate) use periods::{MAX_DAYS, MAX_MONTHS};
pub(crate) use shape::{ReportRowShape, ReportShape};

/// A day or month.
const PERIOD: &str = "^[0-9]{4}-(0[1-9]|1[0-2])(-(0[1-9]|[12][0-9]|3[01]))?$";
/// A `next`.
const NEXT: &str = "^[0-9-]*/[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$";
/// For counting before an answer.
const PATIENCE: Duration = Duration::from_secs(2);
/// Steps of counting that one request makes at most; the next one goes on.
const MAX_STEPS: usize = 20;

#[derive(Clone, Copy)]
pub(super) struct Find;

#[async_trait]
impl Endpoint for Find {
    fn document(&self, operation: Described) -> Described {
        let words: Vec<_> = ReportUnit::ALL.iter().map(|it| it.as_str()).collect();
        let by = Schema::text("What a row is about.", "DAY").closed(&words);
        let limit = Schema::integer("Maximum number of rows of companies.", 100);
        let limit = limit.between(1, i64::from(PageRequest::MAX_LIMIT));
        operation
            .titled(OPERATIONS, "getReport", "Get what happened by day or month")
            .note(
                "Days and months are those of São Paulo, and events are counted by the day on which they happened: an offer of one day \
                 that is requested on the next is in both. At most 92 days or 36 months. Deliveries belong to the head office whose \
                 endpoint they go to, everything else to the payer's.",
            )
            .parameter(Parameter::query("by", by.by_default("DAY")))
            .parameter(Parameter::query(
                "since",
                Schema::text(
                    "The first day, or month (`2026-11`). 30 days or 12 months up to `until` unless given.",
                    "2026-11-01",
                )
                .pattern(PERIOD),
            ))
            .parameter(Parameter::query(
                "until",
                Schema::text("The last day or month; today's unless given.", "2026-11-30").pattern(PERIOD),
            ))
            .parameter(Parameter::query("companyId", Schema::uuid(HEAD_OFFICE)))
            .parameter(Parameter::query(
                "perCompany",
                Schema::boolean(
                    "A row for each head office and period in which something happened, page by page; without effect beside `companyId`. \
                     Otherwise a row for each period.",
                    true,
                ),
            ))
            .parameter(Parameter::query(
                "after",
                Schema::text(
                    "The `next` of the page before.",
                    "2026-11-21/018f2f3a-0000-7000-8000-000000000001",
                )
                .pattern(NEXT),
            ))
            .parameter(Parameter::query(
                "limit",
                limit.by_default(PageRequest::MAX_LIMIT),
            ))
            .answers(200, "The oldest first.", Schema::of::<ReportShape>())
            .refuses(&[
                ErrorCode::ValidationError,
                ErrorCode::ResourceNotFound,
                ErrorCode::ResourceConflict,
            ])
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let query = Query::parse(req.uri().query());
        let (range, scope) = parse(&query, periods::today(api.clock.now()))?;
        if let ReportScope::HeadOffice(id) = scope {
            let company = existing(api.directory.company(id).await?)?;
            let head_office = Company::known(&company).require_head_office();
            head_office.map_err(Refusal::from)?;
        }
        count(api).await;
        let query = ReportQuery {
            unit: range.unit,
            periods: range.periods,
            scope,
        };
        let rows = api.directory.report(&query).await?;
        Ok(ok(&ReportShape::new(&query, &rows)))
    }
}

/// Counts what happened before the request. A report is a read: when a held instance may not write, or others
/// keep the database's writer, it shows what was counted before.
async fn count(api: &PlatformApi) {
    if api.hold.is_held() {
        return;
    }
    let counting = async {
        api.numberer.catch_up().await.ok()?;
        for _ in 0..MAX_STEPS {
            if api.directory.count_activity().await.ok()? == 0 {
                break;
            }
        }
        Some(())
    };
    if tokio::time::timeout(PATIENCE, counting).await != Ok(Some(())) {
        tracing::warn!(target: "reports", "shown without what happened lately, which could not be counted now");
    }
}

fn parse(query: &Query, today: chrono::NaiveDate) -> Result<(Range, ReportScope), Vec<Problem>> {
    let mut problems = Problems::default();
    let unit = query.one("by", one_of(ReportUnit::ALL), &mut problems);
    let range = Range::read(query, unit.unwrap_or(ReportUnit::Day), today, &mut problems);
    let company = query.one("companyId", CompanyId::parse, &mut problems);
    let is_each = query.one("perCompany", boolean, &mut problems);
    let limit = query.whole("limit", 1, PageRequest::MAX_LIMIT, &mut problems);
    let after = query.one("after", place, &mut problems);
    let scope = match company {
        Some(id) => ReportScope::HeadOffice(id),
        None if is_each == Some(true) => ReportScope::Each {
            after,
            limit: limit.unwrap_or(PageRequest::MAX_LIMIT),
        },
        None => ReportScope::Everybody,
    };
    problems.unless_any(range.map(|range| (range, scope)))
}

fn boolean(text: &str) -> Result<bool, Defect> {
    text.parse().map_err(|_| Defect::NotABoolean)
}

/// A `next` that an answer gave.
fn place(text: &str) -> Result<(String, CompanyId), Defect> {
    let (period, id) = text.split_once('/').ok_or(Defect::NotANext)?;
    let is_period = period.bytes().all(|it| it.is_ascii_digit() || it == b'-');
    let id = CompanyId::parse(id).map_err(|_| Defect::NotANext)?;
    is_period
        .then(|| (period.to_owned(), id))
        .ok_or(Defect::NotANext)
}
