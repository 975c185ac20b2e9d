//! Sums of what happened, by period, head office and kind.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use preauth_core::value::{Timestamp, calendar};
use uuid::Uuid;

use crate::directory::{ReportUnit, Volume};

use super::super::{Session, query};
use super::EVERYBODY;

/// The kind of a delivery.
pub(super) const DELIVERY: &str = "delivery";
/// The kind of one that was given up and removed since; the others are counted as they stand.
pub(in crate::store) const FAILED_DELIVERY: &str = "delivery.failed";

/// Sums of each head office, day and kind that are not written yet.
#[derive(Debug, Default)]
pub(in crate::store) struct Counts(BTreeMap<(Uuid, NaiveDate, String), Volume>);

/// The sums as they are stored, in the order in which all writers lock their rows.
type Rows = BTreeMap<(ReportUnit, Uuid, String, String), Volume>;

impl Counts {
    /// Adds one of a kind without an amount.
    pub(in crate::store) fn add_one(&mut self, head_office: Uuid, at: Timestamp, kind: &str) {
        self.add(head_office, at, kind, Volume::ONE);
    }

    /// Adds what happened at a moment.
    pub(super) fn add(&mut self, head_office: Uuid, at: Timestamp, kind: &str, more: Volume) {
        let key = (head_office, calendar::today(at), kind.to_owned());
        let sum = self.0.entry(key).or_default();
        *sum = sum.plus(more);
    }

    /// Each sum counts for its day and its month, for its head office and for all together.
    fn rows(self) -> Rows {
        let mut rows = Rows::new();
        for ((head_office, day, kind), sum) in self.0 {
            for unit in ReportUnit::ALL {
                for id in [head_office, EVERYBODY] {
                    let row = rows.entry((*unit, id, unit.name_of(day), kind.clone()));
                    let stored = row.or_default();
                    *stored = stored.plus(sum);
                }
            }
        }
        rows
    }

    /// Adds them to those that are stored.
    pub(in crate::store) async fn write(
        self,
        session: &mut dyn Session,
    ) -> Result<(), sqlx::Error> {
        let stored = |number| i64::try_from(number).unwrap_or(i64::MAX);
        for ((unit, head_office, period, kind), sum) in self.rows() {
            query(
                "INSERT INTO activity_counts AS c
                     (unit, head_office_id, period, kind, count, amount_cents, net_amount_cents)
                 VALUES ($1, $2, $3, $4, $5, $6, $7)
                 ON CONFLICT (unit, head_office_id, period, kind) DO UPDATE
                 SET count = c.count + excluded.count,
                     amount_cents = c.amount_cents + excluded.amount_cents,
                     net_amount_cents = c.net_amount_cents + excluded.net_amount_cents",
            )
            .bind(unit.as_str())
            .bind(head_office)
            .bind(period)
            .bind(kind)
            .bind(stored(sum.count))
            .bind(stored(sum.cents))
            .bind(stored(sum.net_cents))
            .execute(session)
            .await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use preauth_core::value::Timestamp;
    use uuid::Uuid;

    use super::{Counts, Volume};

    #[test]
    fn midnight_in_sao_paulo_separates_days_and_months() {
        let mut counts = Counts::default();
        let company = Uuid::from_u128(7);
        for at in ["2026-12-01T02:59:59.999Z", "2026-12-01T03:00:00.000Z"] {
            counts.add_one(company, Timestamp::parse(at).unwrap(), "delivery");
        }
        let rows = counts.rows();
        let of_company = rows.iter().filter(|((_, id, ..), _)| *id == company);
        let found: Vec<_> = of_company
            .map(|((_, _, period, _), sum)| (period.as_str(), *sum))
            .collect();
        let expected = ["2026-11-30", "2026-12-01", "2026-11", "2026-12"];
        assert_eq!(found, expected.map(|period| (period, Volume::ONE)));
        assert_eq!(rows.len(), 8, "the same for everybody");
    }
}
