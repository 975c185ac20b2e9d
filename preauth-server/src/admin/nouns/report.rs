//! `report`: what happened, by day or month and by company.

use clap::{Args, ValueEnum};

use crate::admin::Failure;
use crate::admin::call::Call;
use crate::admin::company_ref::CompanyRef;
use crate::admin::output::{Field, Shown as _};
use crate::admin::session::Session;
use crate::http::platform::reports::{ReportRowShape, ReportShape};
use crate::labels;
use crate::language::Text;

use super::RunOne;

/// Which report to print.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// What a row is about.
    #[arg(long, value_enum, default_value_t = By::Day)]
    by: By,
    /// The first day in São Paulo, or the first month (2026-11); 30 days or 12 months before the last one unless given.
    #[arg(long, value_name = "DAY")]
    since: Option<String>,
    /// The last day or month; today's unless given.
    #[arg(long, value_name = "DAY")]
    until: Option<String>,
    /// Only of this head office: its id or CNPJ.
    #[arg(long, value_parser = CompanyRef::parse)]
    company: Option<CompanyRef>,
    /// A row for each head office and day or month in which something happened.
    #[arg(long, conflicts_with = "company")]
    per_company: bool,
    /// Print a CSV file for a spreadsheet, with all figures: in Portuguese (`--lang pt`) with `;` and decimal commas.
    #[arg(long, conflicts_with = "json")]
    csv: bool,
}

/// What a row is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum By {
    /// A day.
    Day,
    /// A month.
    Month,
}

impl By {
    const fn word(self) -> &'static str {
        match self {
            Self::Day => "DAY",
            Self::Month => "MONTH",
        }
    }
}

type Column = Field<ReportRowShape>;

const PERIOD: Column = Field::new(Text::new("period", "período"), |it| {
    it.period.cell().whole()
});
const COMPANY_ID: Column = Field::new(labels::COMPANY, |it| it.company_id.cell());
const NAME: Column = Field::new(labels::NAME, |it| it.company_name.cell());
const OFFERS: Column = Field::new(labels::OFFERS, |it| it.activity.offers.cell());
const OFFERED: Column = Field::new(labels::OFFERED_AMOUNT, |it| {
    it.activity.offered_amount.cell()
});
const REQUESTS: Column = Field::new(labels::REQUESTS, |it| it.activity.requests.cell());
const REQUESTED: Column = Field::new(labels::REQUESTED_AMOUNT, |it| {
    it.activity.requested_amount.cell()
});
const DECLINED: Column = Field::new(labels::DECLINED, |it| it.activity.declined.cell());
const CANCELED: Column = Field::new(labels::CANCELED, |it| it.activity.revoked.cell());
const EXPIRED: Column = Field::new(labels::EXPIRED, |it| it.activity.expired.cell());
const REPROVED: Column = Field::new(labels::REPROVED, |it| it.activity.reproved.cell());
const PAID: Column = Field::new(labels::PAYOUTS, |it| it.activity.paid.cell());
const PAID_NET: Column = Field::new(labels::PAID_NET_AMOUNT, |it| {
    it.activity.paid_net_amount.cell()
});
const FAILED: Column = Field::new(labels::DELIVERIES_GIVEN_UP, |it| {
    it.activity.failed_deliveries.cell()
});

/// What fits a terminal.
const TABLE: &[Column] = &[
    PERIOD, NAME, OFFERS, OFFERED, REQUESTS, REQUESTED, DECLINED, CANCELED, EXPIRED, REPROVED,
    PAID, PAID_NET, FAILED,
];
const ALL: &[Column] = &[
    PERIOD,
    COMPANY_ID,
    NAME,
    OFFERS,
    OFFERED,
    Field::new(labels::DIRECT_ADVANCES, |it| {
        it.activity.direct_advances.cell()
    }),
    Field::new(labels::DIRECT_AMOUNT, |it| it.activity.direct_amount.cell()),
    REQUESTS,
    REQUESTED,
    DECLINED,
    CANCELED,
    EXPIRED,
    REPROVED,
    PAID,
    Field::new(labels::PAID_AMOUNT, |it| it.activity.paid_amount.cell()),
    PAID_NET,
    Field::new(labels::RETURNED_PAYOUTS, |it| it.activity.returned.cell()),
    Field::new(labels::RETURNED_NET_AMOUNT, |it| {
        it.activity.returned_net_amount.cell()
    }),
    Field::new(labels::PAID_ORDERS, |it| it.activity.paid_orders.cell()),
    Field::new(labels::PAID_ORDERS_AMOUNT, |it| {
        it.activity.paid_orders_amount.cell()
    }),
    Field::new(labels::DELIVERIES, |it| it.activity.deliveries.cell()),
    FAILED,
];

impl RunOne for ReportArgs {
    async fn run(self, session: &Session) -> Result<(), Failure> {
        let company = match &self.company {
            Some(company) => Some(session.company(company).await?),
            None => None,
        };
        let call = Call::get("reports")
            .query("by", Some(self.by.word()))
            .query("since", self.since)
            .query("until", self.until)
            .query("companyId", company)
            .query("perCompany", self.per_company.then_some("true"));
        let mut report: ReportShape = session.ask(call.clone()).await?;
        while let Some(next) = report.next.take() {
            let after = call.clone().query("after", Some(next));
            let more: ReportShape = session.ask(after).await?;
            report.rows.extend(more.rows);
            report.next = more.next;
        }
        if self.csv {
            return session.print_csv(&report.rows, ALL);
        }
        session.show_rows(&report, &report.rows, TABLE)
    }
}
