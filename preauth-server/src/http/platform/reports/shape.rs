//! Reports as JSON.

use preauth_core::value::{CompanyId, Money};
use preauth_core::wire::Open;

use crate::directory::{Activity, ReportQuery, ReportRow, ReportScope, ReportUnit};
use crate::http::openapi::shape::answer;

answer! {
    /// What happened, by day or month.
    #[derive(Debug)]
    pub(crate) struct ReportShape = "Report" {
        /// What a row is about.
        by: Open<ReportUnit>,
        /// The first day or month.
        since: String = "2026-11-01",
        /// The last one.
        until: String = "2026-11-30",
        /// The rows, the oldest first.
        rows: Vec<ReportRowShape>,
        /// The `after` of the next page; null when this is the last one.
        next: Option<String> = "2026-11-21/018f2f3a-0000-7000-8000-000000000001",
    }
}

answer! {
    /// A day or a month, of one head office or of all together.
    #[derive(Debug)]
    pub(crate) struct ReportRowShape {
        /// The day or the month.
        period: String = "2026-11-21",
        /// The head office; null: all together.
        company_id: Option<CompanyId>,
        /// Its name.
        company_name: Option<String> = "Construtora Exemplo S.A.",
        /// What happened.
        activity: ActivityShape,
    }
}

answer! {
    /// What happened in a period. Amounts are in reais; those without `Net` are gross.
    #[derive(Debug)]
    pub(crate) struct ActivityShape {
        /// Offers made.
        offers: u64 = 12 => |it| it.at_least(0),
        /// Their amount.
        offered_amount: Money = 150_000.0,
        /// Advances that suppliers began without an offer.
        direct_advances: u64 = 2 => |it| it.at_least(0),
        /// Their amount.
        direct_amount: Money = 20_000.0,
        /// Offers that suppliers requested.
        requests: u64 = 9 => |it| it.at_least(0),
        /// Their amount.
        requested_amount: Money = 110_000.0,
        /// Offers that suppliers declined.
        declined: u64 = 1 => |it| it.at_least(0),
        /// Offers that the company cancelled.
        revoked: u64 = 1 => |it| it.at_least(0),
        /// Offers that expired.
        expired: u64 = 1 => |it| it.at_least(0),
        /// Requests that the company or the platform reproved.
        reproved: u64 = 0 => |it| it.at_least(0),
        /// Payouts to suppliers.
        paid: u64 = 8 => |it| it.at_least(0),
        /// The gross amount of what was paid.
        paid_amount: Money = 100_000.0,
        /// What suppliers got.
        paid_net_amount: Money = 97_500.0,
        /// Payouts that the bank returned.
        returned: u64 = 0 => |it| it.at_least(0),
        /// What suppliers did not get by these.
        returned_net_amount: Money = 0.0,
        /// Payment orders that were paid.
        paid_orders: u64 = 3 => |it| it.at_least(0),
        /// Their amount.
        paid_orders_amount: Money = 9_000.0,
        /// Deliveries of events of this period.
        deliveries: u64 = 48 => |it| it.at_least(0),
        /// Those of them that were given up, and not sent again with success.
        failed_deliveries: u64 = 0 => |it| it.at_least(0),
    }
}

impl ReportShape {
    pub(super) fn new(query: &ReportQuery, rows: &[ReportRow]) -> Self {
        let name = |period: Option<&crate::directory::Period>| {
            period.map(|it| it.name.clone()).unwrap_or_default()
        };
        Self {
            by: query.unit.into(),
            since: name(query.periods.first()),
            until: name(query.periods.last()),
            rows: rows.iter().map(ReportRowShape::from).collect(),
            next: next(query, rows),
        }
    }
}

/// Where the next page begins, if this one is full.
fn next(query: &ReportQuery, rows: &[ReportRow]) -> Option<String> {
    let ReportScope::Each { limit, .. } = query.scope else {
        return None;
    };
    let is_full = u32::try_from(rows.len()).is_ok_and(|rows| rows >= limit);
    let last = rows.last().filter(|_| is_full)?;
    let (id, _) = last.company.as_ref()?;
    Some(format!("{}/{id}", last.period))
}

impl From<&ReportRow> for ReportRowShape {
    fn from(row: &ReportRow) -> Self {
        Self {
            period: row.period.clone(),
            company_id: row.company.as_ref().map(|(id, _)| *id),
            company_name: row.company.as_ref().map(|(_, name)| name.clone()),
            activity: (&row.activity).into(),
        }
    }
}

impl From<&Activity> for ActivityShape {
    fn from(it: &Activity) -> Self {
        Self {
            offers: it.offers.count,
            offered_amount: money(it.offers.cents),
            direct_advances: it.direct_advances.count,
            direct_amount: money(it.direct_advances.cents),
            requests: it.requests.count,
            requested_amount: money(it.requests.cents),
            declined: it.declined.count,
            revoked: it.revoked.count,
            expired: it.expired.count,
            reproved: it.reproved.count,
            paid: it.paid.count,
            paid_amount: money(it.paid.cents),
            paid_net_amount: money(it.paid.net_cents),
            returned: it.returned.count,
            returned_net_amount: money(it.returned.net_cents),
            paid_orders: it.paid_orders.count,
            paid_orders_amount: money(it.paid_orders.cents),
            deliveries: it.deliveries,
            failed_deliveries: it.failed_deliveries,
        }
    }
}

fn money(cents: u64) -> Money {
    let cents = i64::try_from(cents).unwrap_or(i64::MAX);
    Money::from_cents(cents).unwrap_or(Money::ZERO)
}
