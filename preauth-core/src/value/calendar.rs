//! The calendar of São Paulo, by which the contract counts days.
//!
//! [Contract, "Limits"](https://example.com/preauth/blob/main/docs/reference.md#limits):
//! due dates lie 5 to 180 calendar days from today, São Paulo time.

use chrono::{NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, TimeZone};
use chrono_tz::America::Sao_Paulo;

use super::Timestamp;

/// The last moment of a day that a timestamp can express.
const LAST_MILLI_OF_DAY: TimeDelta = TimeDelta::milliseconds(86_399_999);

/// The version of the rules for São Paulo's days, as in `2025b`; they are part of the program.
pub const RULES_VERSION: &str = chrono_tz::IANA_TZDB_VERSION;

/// The date in São Paulo at the moment `now`.
#[must_use]
pub fn today(now: Timestamp) -> NaiveDate {
    local_time(now).date()
}

/// The local date and time in São Paulo at the moment `now`.
#[must_use]
pub fn local_time(now: Timestamp) -> NaiveDateTime {
    now.to_datetime().with_timezone(&Sao_Paulo).naive_local()
}

/// Calendar days from today in São Paulo until `date`; 0 for today, negative for the past.
#[must_use]
pub fn days_until(now: Timestamp, date: NaiveDate) -> i64 {
    date.signed_duration_since(today(now)).num_days()
}

/// The last moment of `date` in São Paulo: 23:59:59.999 there.
///
/// A date outside the range of [`Timestamp`] gives the nearest end of that range.
#[must_use]
pub fn end_of_day(date: NaiveDate) -> Timestamp {
    let local = date
        .and_time(NaiveTime::MIN)
        .checked_add_signed(LAST_MILLI_OF_DAY);
    // When daylight saving ended at midnight, the last hour of the day occurred twice; use the later one.
    let moment = local.and_then(|local| Sao_Paulo.from_local_datetime(&local).latest());
    moment.map_or(Timestamp::MAX, |moment| {
        Timestamp::from_datetime(moment.to_utc())
    })
}

#[cfg(test)]
mod tests {
    use chrono::Days;
    use proptest::prelude::*;

    use super::*;

    fn moment(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    fn date(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    #[test]
    fn the_day_begins_three_hours_after_that_of_utc() {
        assert_eq!(
            today(moment("2026-11-21T02:59:59.999Z")),
            date("2026-11-20")
        );
        assert_eq!(
            today(moment("2026-11-21T03:00:00.000Z")),
            date("2026-11-21")
        );
    }

    #[test]
    fn days_are_counted_by_the_calendar_not_by_hours() {
        let just_before_midnight = moment("2026-11-21T02:59:59.999Z");
        assert_eq!(days_until(just_before_midnight, date("2026-11-21")), 1);
        assert_eq!(days_until(just_before_midnight, date("2026-11-20")), 0);
        assert_eq!(days_until(just_before_midnight, date("2026-11-19")), -1);
    }

    #[test]
    fn a_day_ends_one_millisecond_before_the_next() {
        assert_eq!(
            end_of_day(date("2026-11-21")),
            moment("2026-11-22T02:59:59.999Z")
        );
    }

    #[test]
    fn a_day_that_ended_daylight_saving_ends_after_its_second_last_hour() {
        // 2019-02-16: at midnight clocks went back to 23:00, from UTC-2 to UTC-3.
        assert_eq!(
            end_of_day(date("2019-02-16")),
            moment("2019-02-17T02:59:59.999Z")
        );
        // 2018-11-03: the following day began at 01:00.
        assert_eq!(
            end_of_day(date("2018-11-03")),
            moment("2018-11-04T02:59:59.999Z")
        );
    }

    #[test]
    fn dates_beyond_all_timestamps_end_at_the_nearest_one() {
        assert_eq!(end_of_day(NaiveDate::MAX), Timestamp::MAX);
        assert_eq!(end_of_day(NaiveDate::MIN), Timestamp::MIN);
    }

    proptest! {
        #[test]
        fn the_end_of_a_day_is_its_last_moment(days in 0..40_000_u64) {
            let day = date("1990-01-01").checked_add_days(Days::new(days)).unwrap();
            let end = end_of_day(day);
            prop_assert_eq!(today(end), day);
            prop_assert_eq!(days_until(end, day), 0);
            prop_assert_eq!(days_until(end.saturating_add(TimeDelta::milliseconds(1)), day), -1);
        }
    }
}
