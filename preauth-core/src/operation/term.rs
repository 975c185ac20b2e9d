//! Terms of an offer: the permitted range of its due date, and its expiry.

use chrono::{Days, NaiveDate};

use crate::Policy;
use crate::value::{DueDate, Timestamp, calendar};

/// The earliest permitted due date, in calendar days from today in São Paulo
/// ([contract, "Limits"](https://example.com/preauth/blob/main/docs/reference.md#limits)).
pub const EARLIEST_DUE_DAYS: i64 = 5;
/// The latest permitted due date, in calendar days from today in São Paulo
/// ([contract, "Limits"](https://example.com/preauth/blob/main/docs/reference.md#limits)).
pub const LATEST_DUE_DAYS: i64 = 180;

/// Until when the supplier may request the advance: the policy's lifetime, or the end, in São Paulo, of the
/// last day on which the due date is still [`EARLIEST_DUE_DAYS`] ahead, whichever comes first.
#[must_use]
pub fn expires_at(created_at: Timestamp, due_date: DueDate, policy: &Policy) -> Timestamp {
    let lifetime_ends = created_at.saturating_add(policy.offer_lifetime);
    let days = Days::new(EARLIEST_DUE_DAYS.unsigned_abs());
    let last_day = due_date
        .date()
        .checked_sub_days(days)
        .unwrap_or(NaiveDate::MIN);
    lifetime_ends.min(calendar::end_of_day(last_day))
}

#[cfg(test)]
mod tests {
    use super::expires_at;
    use crate::Policy;
    use crate::value::{DueDate, Timestamp};

    fn check(created_at: &str, due_date: &str, expected: &str) {
        let created_at = Timestamp::parse(created_at).unwrap();
        let due_date = DueDate::parse(due_date).unwrap();
        let found = expires_at(created_at, due_date, &Policy::default());
        assert_eq!(found.to_string(), expected);
    }

    #[test]
    fn a_far_due_date_leaves_thirty_days() {
        check(
            "2026-11-21T12:00:00.000Z",
            "2027-03-01",
            "2026-12-21T12:00:00.000Z",
        );
    }

    #[test]
    fn a_near_due_date_ends_the_offer_at_the_end_of_its_last_day_in_sao_paulo() {
        check(
            "2026-11-21T12:00:00.000Z",
            "2026-12-01",
            "2026-11-27T02:59:59.999Z",
        );
    }
}
