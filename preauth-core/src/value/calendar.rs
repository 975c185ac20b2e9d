//! The calendar of São Paulo, by which the contract counts days.
//!
//! Contract, "Limits": due dates lie 5 to 180 calendar days from today, São Paulo time.

use chrono::{NaiveDate, NaiveTime, TimeDelta, TimeZone};
use chrono_tz::America::Sao_Paulo;

use super::Timestamp;

/// The last moment of a day that a timestamp can express.
const LAST_MILLI_OF_DAY: TimeDelta = TimeDelta::milliseconds(86_399_999);

/// The day it is in São Paulo at the moment `now`.
#[must_use]
pub fn today(now: Timestamp) -> NaiveDate {
    now.to_datetime().with_timezone(&Sao_Paulo).date_naive()
}

/// Calendar days from today in São Paulo until `date`; 0 for today, negative for the past.
#[must_use]
pub fn days_until(now: Timestamp, date: NaiveDate) -> i64 {
    date.signed_duration_since(today(now)).num_days()
}

/// The last moment of `date` in São Paulo: 23:59:59.999 there.
///
/// Dates outside the range of [`Timestamp`] give its nearest end.
#[must_use]
pub fn end_of_day(date: NaiveDate) -> Timestamp {
    let local = date
        .and_time(NaiveTime::MIN)
        .checked_add_signed(LAST_MILLI_OF_DAY);
    // When daylight saving ended at midnight, the last hour of the day came twice: the later counts.
    let moment = local.and_then(|local| Sao_Paulo.from_local_datetime(&local).latest());
    moment.map_or(Timestamp::MAX, |moment| {
        Timestamp::from_datetime(moment.to_utc())
    })
}
