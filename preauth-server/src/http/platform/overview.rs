//! `GET /attention`: what somebody should look at; `GET /totals`: operations and deliveries by day.

use chrono::{NaiveDate, TimeDelta};
use preauth_core::value::{ApiKeyId, CompanyId, Money, Timestamp, calendar};
use salvo::async_trait;
use salvo::http::Request;

use crate::directory::{Attention, CompanyAttention, EndingKey, Totals};
use crate::http::error::ApiError;
use crate::http::fields::Problems;
use crate::http::openapi::described::Described;
use crate::http::openapi::document::Parameter;
use crate::http::openapi::schema::Schema;
use crate::http::openapi::shape::answer;
use crate::http::query::Query;
use crate::http::reply::Reply;

use super::PlatformApi;
use super::endpoint::{Endpoint, ok};
use super::sections::OPERATIONS;

const DEFAULT_DAYS: u32 = 30;
const MAX_DAYS: u32 = 92;

answer! {
    /// What somebody should look at; numbers are counted up to 10,000, and lists have the 20 most urgent.
    #[derive(Debug)]
    pub(crate) struct AttentionShape = "Attention" {
        /// Deliveries that wait after a failed attempt.
        retried_deliveries: u64 = 3 => |it| it.at_least(0),
        /// Deliveries that have been due for five minutes.
        overdue_deliveries: u64 = 0 => |it| it.at_least(0),
        /// Deliveries that were given up in the last 24 hours.
        failed_deliveries: u64 = 0 => |it| it.at_least(0),
        /// Mails that wait because their address has reached the limit of the day.
        held_mails: u64 = 0 => |it| it.at_least(0),
        /// Mails that were given up in the last 24 hours.
        failed_mails: u64 = 0 => |it| it.at_least(0),
        /// Head offices of which a delivery waits after a failed attempt, the longest first.
        failing_endpoints: Vec<CompanyAttentionShape>,
        /// Head offices whose endpoint is paused, the longest first.
        paused_endpoints: Vec<CompanyAttentionShape>,
        /// Valid keys that end within 30 days, the first to end first.
        ending_keys: Vec<EndingKeyShape>,
    }
}

answer! {
    /// A head office whose endpoint somebody should look at.
    #[derive(Debug)]
    pub(crate) struct CompanyAttentionShape {
        /// The head office's id.
        company_id: CompanyId,
        /// Its name.
        name: String = "Construtora Exemplo S.A.",
        /// Since when.
        since: Timestamp,
    }
}

answer! {
    /// A key that ends soon.
    #[derive(Debug)]
    pub(crate) struct EndingKeyShape {
        /// The key's id.
        id: ApiKeyId,
        /// The key's name.
        name: String = "ERP",
        /// The company's id.
        company_id: CompanyId,
        /// From when on it is refused.
        expires_at: Timestamp,
    }
}

answer! {
    /// Operations and deliveries by day.
    #[derive(Debug)]
    pub(crate) struct TotalsShape = "Totals" {
        /// Every day, the oldest first; the last one is today.
        days: Vec<DayShape>,
    }
}

answer! {
    /// A day in São Paulo.
    #[derive(Debug)]
    pub(crate) struct DayShape {
        /// The day.
        day: String = "2026-11-21",
        /// Operations that began: offers and direct advances.
        operations: u64 = 12 => |it| it.at_least(0),
        /// Those of them that have been requested by now.
        requested: u64 = 9 => |it| it.at_least(0),
        /// The gross amount of all that began, in reais.
        amount: Money = 150_000.0,
        /// Deliveries that were made.
        deliveries: u64 = 48 => |it| it.at_least(0),
        /// Deliveries that were given up.
        failed_deliveries: u64 = 0 => |it| it.at_least(0),
    }
}

impl From<Attention> for AttentionShape {
    fn from(found: Attention) -> Self {
        let companies = |found: Vec<CompanyAttention>| {
            let shown = found.into_iter().map(|it| CompanyAttentionShape {
                company_id: it.company,
                name: it.name,
                since: it.since,
            });
            shown.collect()
        };
        let key = |it: EndingKey| EndingKeyShape {
            id: it.id,
            name: it.name,
            company_id: it.company,
            expires_at: it.expires_at,
        };
        Self {
            retried_deliveries: found.retried_deliveries,
            overdue_deliveries: found.overdue_deliveries,
            failed_deliveries: found.failed_deliveries,
            held_mails: found.held_mails,
            failed_mails: found.failed_mails,
            failing_endpoints: companies(found.failing_endpoints),
            paused_endpoints: companies(found.paused_endpoints),
            ending_keys: found.ending_keys.into_iter().map(key).collect(),
        }
    }
}

#[derive(Clone, Copy)]
pub(super) struct Attend;

#[async_trait]
impl Endpoint for Attend {
    fn document(&self, operation: Described) -> Described {
        operation
            .titled(OPERATIONS, "getAttention", "Get what needs attention")
            .answers(200, "As it stands.", Schema::of::<AttentionShape>())
    }

    async fn answer(&self, api: &PlatformApi, _req: &mut Request) -> Result<Reply, ApiError> {
        let found = api.directory.attention(api.clock.now()).await?;
        Ok(ok(&AttentionShape::from(found)))
    }
}

#[derive(Clone, Copy)]
pub(super) struct ByDay;

#[async_trait]
impl Endpoint for ByDay {
    fn document(&self, operation: Described) -> Described {
        let days = Schema::integer("How many days, today included.", DEFAULT_DAYS.into())
            .between(1, i64::from(MAX_DAYS))
            .by_default(DEFAULT_DAYS);
        operation
            .titled(OPERATIONS, "getTotals", "Get totals by day")
            .note("Days are those of São Paulo. Deliveries are removed 30 days after they ended.")
            .parameter(Parameter::query("days", days))
            .answers(200, "The days.", Schema::of::<TotalsShape>())
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let query = Query::parse(req.uri().query());
        let mut problems = Problems::default();
        let days = query.whole("days", 1, MAX_DAYS, &mut problems);
        let days = problems.unless_any(Some(days))?.unwrap_or(DEFAULT_DAYS);
        let days = last_days(api.clock.now(), days);
        let moments: Vec<_> = days.iter().map(|(_, begin)| *begin).collect();
        let totals = api.directory.totals(&moments).await?;
        let days = days
            .iter()
            .zip(&totals)
            .map(|((day, _), totals)| day_shape(*day, totals));
        Ok(ok(&TotalsShape {
            days: days.collect(),
        }))
    }
}

/// So many days up to today and the one after it, the oldest first, each with its first moment.
fn last_days(now: Timestamp, days: u32) -> Vec<(NaiveDate, Timestamp)> {
    let today = calendar::today(now);
    let offsets = (-1..i64::from(days)).rev();
    let day = |offset: i64| {
        let day = today.checked_sub_signed(TimeDelta::days(offset))?;
        let before = calendar::end_of_day(day.pred_opt()?);
        Some((day, before.saturating_add(TimeDelta::milliseconds(1))))
    };
    offsets.filter_map(day).collect()
}

fn day_shape(day: NaiveDate, totals: &Totals) -> DayShape {
    let cents = i64::try_from(totals.amount_cents).unwrap_or(i64::MAX);
    DayShape {
        day: day.to_string(),
        operations: totals.operations,
        requested: totals.requested,
        amount: Money::from_cents(cents).unwrap_or(Money::ZERO),
        deliveries: totals.deliveries,
        failed_deliveries: totals.failed_deliveries,
    }
}

#[cfg(test)]
mod tests {
    use super::{Timestamp, last_days};

    #[test]
    fn days_are_those_of_sao_paulo_up_to_the_end_of_today() {
        let now = Timestamp::parse("2026-11-21T01:00:00.000Z").unwrap();
        let days: Vec<_> = last_days(now, 2)
            .into_iter()
            .map(|(day, begin)| (day.to_string(), begin.to_string()))
            .collect();
        let expected = [
            ("2026-11-19", "2026-11-19T03:00:00.000Z"),
            ("2026-11-20", "2026-11-20T03:00:00.000Z"),
            ("2026-11-21", "2026-11-21T03:00:00.000Z"),
        ];
        let expected = expected.map(|(day, begin)| (day.to_owned(), begin.to_owned()));
        assert_eq!(days, expected);
    }
}
