//! What happened, by day or month and by company.

use async_trait::async_trait;
use chrono::NaiveDate;
use preauth_core::port::Unavailable;
use preauth_core::text_enum;
use preauth_core::value::{CompanyId, Timestamp};

text_enum! {
    /// What a row of a report is about: a day or a month of São Paulo.
    pub enum ReportUnit, "unit of a report" {
        /// A day.
        Day => "DAY",
        /// A month.
        Month => "MONTH",
    }
}

impl ReportUnit {
    /// The name of the day or month that a day belongs to: `2026-11-21` or `2026-11`.
    #[must_use]
    pub fn name_of(self, day: NaiveDate) -> String {
        let mut name = day.to_string();
        if self == Self::Month {
            name.truncate("2026-11".len());
        }
        name
    }
}

/// A day or a month.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Period {
    /// `2026-11-21` or `2026-11`.
    pub name: String,
    /// Its first moment.
    pub begin: Timestamp,
    /// The first moment after it.
    pub end: Timestamp,
}

/// A number of operations or orders, and their amounts in cents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Volume {
    /// How many.
    pub count: u64,
    /// Their gross amounts.
    pub cents: u64,
    /// What suppliers got of them; of payouts only.
    pub net_cents: u64,
}

impl Volume {
    /// One, without an amount.
    pub const ONE: Self = Self {
        count: 1,
        cents: 0,
        net_cents: 0,
    };

    /// Both together.
    #[must_use]
    pub const fn plus(self, more: Self) -> Self {
        Self {
            count: self.count.saturating_add(more.count),
            cents: self.cents.saturating_add(more.cents),
            net_cents: self.net_cents.saturating_add(more.net_cents),
        }
    }
}

/// What happened in a period. Each figure counts events, not the state of operations: an offer of one day that is
/// requested on the next is in both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// Offers made.
    pub offers: Volume,
    /// Advances that suppliers began without an offer.
    pub direct_advances: Volume,
    /// Offers that suppliers requested.
    pub requests: Volume,
    /// Offers that suppliers declined.
    pub declined: Volume,
    /// Offers that the company cancelled, through the integration or in the platform.
    pub revoked: Volume,
    /// Offers that expired.
    pub expired: Volume,
    /// Requests that the company or the platform reproved.
    pub reproved: Volume,
    /// Payouts to suppliers.
    pub paid: Volume,
    /// Payouts that the bank returned.
    pub returned: Volume,
    /// Payment orders that were paid.
    pub paid_orders: Volume,
    /// Deliveries of these events.
    pub deliveries: u64,
    /// Those of them that were given up, and not sent again with success.
    pub failed_deliveries: u64,
}

/// A row of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportRow {
    /// The name of the period.
    pub period: String,
    /// The head office and its name; `None`: all of them together.
    pub company: Option<(CompanyId, String)>,
    /// What happened.
    pub activity: Activity,
}

/// Whose activity a report has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReportScope {
    /// Of all companies together: a row for each period.
    Everybody,
    /// Of one head office: a row for each period.
    HeadOffice(CompanyId),
    /// Of each head office: a row for each period in which something happened, by period and then by id.
    Each {
        /// The row after which it goes on.
        after: Option<(String, CompanyId)>,
        /// Maximum number of rows.
        limit: u32,
    },
}

/// A report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportQuery {
    /// What a row is about.
    pub unit: ReportUnit,
    /// Its periods without gaps, the oldest first; at least one.
    pub periods: Vec<Period>,
    /// Whose activity.
    pub scope: ReportScope,
}

/// Reads reports, and counts what they consist of.
#[async_trait]
pub trait Reports: Send + Sync {
    /// Counts the next events that were not counted yet, and returns their number, or 1 when another instance has just
    /// counted them; 0 when there are none. Each is counted exactly once, whoever is killed meanwhile.
    async fn count_activity(&self) -> Result<u64, Unavailable>;

    /// The rows of a report, of what was counted.
    async fn report(&self, query: &ReportQuery) -> Result<Vec<ReportRow>, Unavailable>;
}
