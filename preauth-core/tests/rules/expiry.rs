//! The end of an offer: when it comes, to the millisecond, and what it allows.

use chrono::TimeDelta;
use preauth_core::Policy;
use preauth_core::operation::{Command, CommandContext, Rejection, State, decide, expires_at};
use preauth_core::value::{Status, Timestamp, calendar};
use proptest::prelude::*;

use crate::given::{EXPIRES_AT, day, moment, operation};

const MILLISECOND: TimeDelta = TimeDelta::milliseconds(1);

// Contract: operation/expiresAt
#[test]
fn an_offer_is_overdue_after_its_last_moment_and_not_at_it() {
    let offer = operation(State::InPreAuth);
    let end = moment(EXPIRES_AT);
    let status = Status::InPreAuth;
    for now in [Timestamp::MIN, end.saturating_sub(MILLISECOND), end] {
        assert!(!offer.is_overdue(now));
        let refused = decide(&offer, &Command::Expire, &CommandContext::default(), now);
        assert_eq!(refused, Err(Rejection::InvalidTransition { status }));
    }
    for now in [end.saturating_add(MILLISECOND), Timestamp::MAX] {
        assert!(offer.is_overdue(now));
        assert!(decide(&offer, &Command::Expire, &CommandContext::default(), now).is_ok());
    }
}

#[test]
fn only_an_offer_can_be_overdue() {
    for (name, state) in crate::given::states() {
        let overdue = operation(state).is_overdue(Timestamp::MAX);
        assert_eq!(overdue, name == "IN_PRE_AUTH", "{name}");
    }
    let mut endless = operation(State::InPreAuth);
    endless.expires_at = None;
    assert!(!endless.is_overdue(Timestamp::MAX));
}

#[test]
fn the_end_is_thirty_days_on_or_the_last_day_with_five_to_go() {
    // The due date lies 35 and 34 calendar days ahead: at 34 the calendar's end comes first.
    let cases = [
        (
            "2026-11-21T12:00:00.000Z",
            "2027-05-20",
            "2026-12-21T12:00:00.000Z",
        ),
        (
            "2026-11-21T12:00:00.000Z",
            "2026-12-26",
            "2026-12-21T12:00:00.000Z",
        ),
        (
            "2026-11-21T12:00:00.000Z",
            "2026-12-25",
            "2026-12-21T02:59:59.999Z",
        ),
        // Five days ahead: until the end of today in São Paulo, which is already tomorrow in UTC.
        (
            "2026-11-22T01:00:00.000Z",
            "2026-11-26",
            "2026-11-22T02:59:59.999Z",
        ),
    ];
    for (created_at, due_date, end) in cases {
        let found = expires_at(moment(created_at), day(due_date), &Policy::default());
        assert_eq!(found, moment(end), "{created_at}, {due_date}");
    }
}

#[test]
fn the_lifetime_is_a_policy() {
    let policy = Policy {
        offer_lifetime: TimeDelta::hours(2),
        ..Policy::default()
    };
    let created_at = moment("2026-11-21T12:00:00.000Z");
    let found = expires_at(created_at, day("2027-05-20"), &policy);
    assert_eq!(found, moment("2026-11-21T14:00:00.000Z"));
}

proptest! {
    #[test]
    fn an_offer_that_may_be_made_does_not_end_before_it_began(
        second in 0_i64..86_400 * 3_000,
        ahead in 5_u64..=180,
    ) {
        let start = moment("2025-01-01T00:00:00.000Z");
        let created_at = start.saturating_add(TimeDelta::seconds(second));
        let due = calendar::today(created_at).checked_add_days(chrono::Days::new(ahead)).unwrap();
        let due = preauth_core::value::DueDate::from_date(due).unwrap();
        let end = expires_at(created_at, due, &Policy::default());
        prop_assert!(end >= created_at);
        prop_assert!(end.since(created_at) <= TimeDelta::days(30));
        prop_assert!(calendar::days_until(end, due.date()) >= 5);
    }
}
