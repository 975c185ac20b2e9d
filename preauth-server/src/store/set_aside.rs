//! Rows that this build cannot read: a newer build wrote them, or they are damaged. They are
//! skipped, counted and logged once each; all other rows are processed.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Display;
use std::sync::{Mutex, MutexGuard, PoisonError};

use chrono::TimeDelta;
use preauth_core::value::{OperationId, Timestamp};

use super::rows::{Corrupt, RawRow};

/// Delay until a skipped row is read again, by this build or by one that can read it.
pub(super) const LOOK_AGAIN: TimeDelta = TimeDelta::minutes(10);
/// Maximum number of rows of each kind that are remembered; further ones are counted on every read.
const MAX_REMEMBERED: usize = 10_000;

/// The rows that one process has skipped.
#[derive(Debug, Default)]
pub(super) struct SetAside {
    known: Mutex<Known>,
    /// Overdue offers that are skipped, and until when.
    overdue: Mutex<HashMap<OperationId, Timestamp>>,
}

#[derive(Debug, Default)]
struct Known {
    rows: HashSet<(&'static str, String)>,
    counts: BTreeMap<&'static str, u64>,
}

/// A row that this build cannot read.
#[derive(Debug)]
pub(super) struct Unreadable {
    id: String,
    cause: Corrupt,
}

impl Unreadable {
    pub(super) fn new(id: impl Display, cause: Corrupt) -> Self {
        Self {
            id: id.to_string(),
            cause,
        }
    }
}

impl SetAside {
    /// Counts rows and logs those that are new.
    pub(super) fn note(&self, unreadable: impl IntoIterator<Item = Unreadable>) {
        for Unreadable { id, cause } in unreadable {
            if self.is_new(cause.table(), &id) {
                let (table, error) = (cause.table(), cause.to_string());
                tracing::error!(
                    target: "database",
                    table,
                    row = id,
                    error,
                    "row set aside; run the version of the server that wrote it, or repair it"
                );
            }
        }
    }

    /// The number of rows of each table that were skipped since the process began.
    pub(super) fn counts(&self) -> Vec<(&'static str, u64)> {
        let known = lock(&self.known);
        known.counts.iter().map(|(table, n)| (*table, *n)).collect()
    }

    /// Records unreadable overdue offers and skips them for a while.
    pub(super) fn leave_out(&self, offers: Vec<(OperationId, Corrupt)>, now: Timestamp) {
        let mut overdue = lock(&self.overdue);
        for (operation, cause) in offers {
            if overdue.len() < MAX_REMEMBERED {
                overdue.insert(operation, now.saturating_add(LOOK_AGAIN));
            }
            self.note([Unreadable::new(operation, cause)]);
        }
    }

    /// The overdue offers that are skipped at `now`.
    pub(super) fn left_out(&self, now: Timestamp) -> Vec<i64> {
        let mut overdue = lock(&self.overdue);
        // A clock that came back does not prolong it.
        overdue.retain(|_, until| *until > now && until.since(now) <= LOOK_AGAIN);
        overdue.keys().map(|operation| operation.get()).collect()
    }

    /// Whether a row is new, or there is no space to remember it.
    fn is_new(&self, table: &'static str, id: &str) -> bool {
        let mut known = lock(&self.known);
        let is_remembered = known.rows.len() < MAX_REMEMBERED;
        let is_new = if is_remembered {
            known.rows.insert((table, id.to_owned()))
        } else {
            !known.rows.contains(&(table, id.to_owned()))
        };
        if is_new {
            let count = known.counts.entry(table).or_default();
            *count = count.saturating_add(1);
        }
        is_new && is_remembered
    }
}

impl SetAside {
    /// The readable rows of `rows`, for a list. The others are recorded.
    pub(super) fn readable<'r, R: RawRow, T>(
        &self,
        rows: &'r [R],
        read: impl Fn(&'r R) -> Result<T, Corrupt>,
    ) -> Vec<T> {
        let mut readable = Vec::with_capacity(rows.len());
        for row in rows {
            match read(row) {
                Ok(value) => readable.push(value),
                Err(cause) => self.note([Unreadable::new(id(row), cause)]),
            }
        }
        readable
    }
}

/// The `id` column of a row in any type.
fn id(row: &impl RawRow) -> String {
    let uuid = row.uuid("id").ok().flatten().map(|id| id.to_string());
    let number = || row.whole("id").ok().flatten().map(|id| id.to_string());
    let bytes = || row.blob("id").ok().flatten().map(hex::encode);
    let text = || row.text("id").ok().flatten().map(ToOwned::to_owned);
    let id = uuid.or_else(number).or_else(bytes).or_else(text);
    id.unwrap_or_default()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use preauth_core::value::{OperationId, Timestamp};

    use super::{LOOK_AGAIN, MAX_REMEMBERED, SetAside, Unreadable};
    use crate::store::rows::Corrupt;

    fn row(id: &impl ToString) -> [Unreadable; 1] {
        [Unreadable::new(
            id.to_string(),
            Corrupt::at("deliveries", "type"),
        )]
    }

    #[test]
    fn a_row_is_counted_once_however_often_it_is_met() {
        let set_aside = SetAside::default();
        for id in ["a", "b", "a", "a"] {
            set_aside.note(row(&id));
        }
        assert_eq!(set_aside.counts(), [("deliveries", 2)]);
    }

    #[test]
    fn more_rows_than_are_remembered_are_counted_and_remembered_no_more() {
        let set_aside = SetAside::default();
        for id in 0..MAX_REMEMBERED.saturating_add(5) {
            set_aside.note(row(&id));
        }
        assert_eq!(set_aside.counts(), [("deliveries", 10_005)]);
        assert_eq!(set_aside.known.lock().unwrap().rows.len(), MAX_REMEMBERED);
    }

    #[test]
    fn an_offer_is_left_out_for_a_while() {
        let (set_aside, now) = (SetAside::default(), Timestamp::MIN);
        let offer = OperationId::new(7).unwrap();
        set_aside.leave_out(vec![(offer, Corrupt::at("operations", "due_date"))], now);
        assert_eq!(set_aside.counts(), [("operations", 1)]);
        assert_eq!(set_aside.left_out(now), [7]);
        assert_eq!(
            set_aside.left_out(now.saturating_add(LOOK_AGAIN)),
            [0_i64; 0]
        );
        let in_a_month = now.saturating_add(TimeDelta::days(31));
        set_aside.leave_out(
            vec![(offer, Corrupt::at("operations", "due_date"))],
            in_a_month,
        );
        assert_eq!(set_aside.left_out(now), [0_i64; 0], "the clock came back");
    }
}
