//! Due dates: one shape, real days.

use chrono::{Datelike, NaiveDate};
use preauth_core::value::{DueDate, DueDateError};
use proptest::prelude::*;

#[test]
fn other_shapes_are_refused() {
    for text in [
        "",
        "2026-12-1",
        "26-12-01",
        "+2026-12-01",
        "2026-12-01 ",
        "2026/12/01",
        "20261201",
        "01-12-2026",
        "2026-12-01T00:00:00Z",
        "２０２６-12-01",
        "2026-12-0a",
    ] {
        assert_eq!(DueDate::parse(text), Err(DueDateError::Shape), "{text}");
    }
}

#[test]
fn a_day_the_calendar_lacks_is_refused() {
    for text in ["2026-02-30", "2026-13-01", "0000-00-00", "2027-02-29"] {
        assert_eq!(DueDate::parse(text), Err(DueDateError::NoSuchDay), "{text}");
    }
    assert!(DueDate::parse("2028-02-29").is_ok());
}

#[test]
fn a_day_that_four_digits_cannot_write_is_none() {
    assert_eq!(DueDate::from_date(NaiveDate::MAX), None);
    assert_eq!(DueDate::from_date(NaiveDate::MIN), None);
}

proptest! {
    // Contract: service/days
    #[test]
    fn a_due_date_reads_back_as_itself(year in 0..=9999, day in 1..=365_u32) {
        let date = NaiveDate::from_yo_opt(year, day).unwrap();
        let due = DueDate::from_date(date).unwrap();
        prop_assert_eq!(due.to_string().len(), 10);
        prop_assert_eq!(DueDate::parse(&due.to_string()), Ok(due));
        prop_assert_eq!(due.date().year(), year);
    }
}
