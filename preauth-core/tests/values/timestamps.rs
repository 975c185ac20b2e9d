//! Moments: one form, one range.

use chrono::TimeDelta;
use preauth_core::value::{Timestamp, TimestampError};
use proptest::prelude::*;

// Contract: service/moments
#[test]
fn a_moment_is_written_with_milliseconds_and_z() {
    let moment = Timestamp::parse("2026-11-21T12:00:00.5Z").unwrap();
    assert_eq!(moment.to_string(), "2026-11-21T12:00:00.500Z");
    assert_eq!(moment.unix_millis() % 1000, 500);
}

#[test]
fn fractions_of_a_millisecond_are_cut_off() {
    let moment = Timestamp::parse("2026-11-21T12:00:00.123999999Z").unwrap();
    assert_eq!(moment.to_string(), "2026-11-21T12:00:00.123Z");
}

#[test]
fn other_forms_are_refused() {
    for text in [
        "",
        "2026-11-21",
        "2026-11-21T12:00:00",
        "2026-11-21T12:00:00+00:00",
        "2026-11-21 12:00:00Z",
        "2026-11-21t12:00:00z",
        "2026-11-21T12:00:00.Z",
        "2026-11-21T12:00:00.0123456789Z",
        "2026-11-21T12:00:00,5Z",
        "+2026-11-21T12:00:00Z",
        "2026-11-21T12:00:0\u{663}Z",
    ] {
        assert_eq!(Timestamp::parse(text), Err(TimestampError::Shape), "{text}");
    }
    for text in [
        "2026-02-30T12:00:00Z",
        "2026-11-21T24:00:00Z",
        "2026-12-31T23:59:60Z",
    ] {
        assert_eq!(
            Timestamp::parse(text),
            Err(TimestampError::NoSuchMoment),
            "{text}"
        );
    }
}

#[test]
fn the_range_is_the_years_0000_to_9999() {
    assert_eq!(Timestamp::MIN.to_string(), "0000-01-01T00:00:00.000Z");
    assert_eq!(Timestamp::MAX.to_string(), "9999-12-31T23:59:59.999Z");
    assert_eq!(
        Timestamp::from_unix_millis(Timestamp::MAX.unix_millis() + 1),
        None
    );
    assert_eq!(
        Timestamp::from_unix_millis(Timestamp::MIN.unix_millis() - 1),
        None
    );
    assert_eq!(
        Timestamp::MAX.saturating_add(TimeDelta::MAX),
        Timestamp::MAX
    );
    assert_eq!(
        Timestamp::MIN.saturating_sub(TimeDelta::MAX),
        Timestamp::MIN
    );
    assert_eq!(
        Timestamp::from_datetime(chrono::DateTime::<chrono::Utc>::MAX_UTC),
        Timestamp::MAX
    );
}

#[test]
fn seconds_before_1970_are_rounded_down() {
    assert_eq!(Timestamp::from_unix_millis(-1).unwrap().unix_seconds(), -1);
}

fn moments() -> impl Strategy<Value = Timestamp> {
    (Timestamp::MIN.unix_millis()..=Timestamp::MAX.unix_millis())
        .prop_map(|millis| Timestamp::from_unix_millis(millis).unwrap())
}

proptest! {
    #[test]
    fn a_moment_reads_back_as_itself(moment in moments()) {
        prop_assert_eq!(Timestamp::parse(&moment.to_string()), Ok(moment));
        prop_assert_eq!(Timestamp::from_datetime(moment.to_datetime()), moment);
        prop_assert_eq!(Timestamp::from_unix_millis(moment.unix_millis()), Some(moment));
    }

    #[test]
    fn the_order_of_texts_is_the_order_of_time(a in moments(), b in moments()) {
        prop_assert_eq!(a.to_string().cmp(&b.to_string()), a.cmp(&b));
    }

    #[test]
    fn the_time_between_two_moments_leads_from_one_to_the_other(a in moments(), b in moments()) {
        prop_assert_eq!(a.saturating_add(b.since(a)), b);
        prop_assert_eq!(b.saturating_sub(b.since(a)), a);
    }
}
