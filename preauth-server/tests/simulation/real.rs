//! The same workload, faults and checks on real databases: these determine the order of events, so
//! a seed gives a similar run, not an identical one.

use crate::coverage::Coverage;
use crate::defect::Defect;
use crate::ground::Kind;
use crate::mix::Rates;
use crate::report::assert_sound;
use crate::seeds::asked;
use crate::world::Plan;

/// Number of rounds, each of which takes seconds; `PREAUTH_SIM_REAL` overrides it.
const ROUNDS_ON_SQLITE: u64 = 16;
const ROUNDS_ON_POSTGRES: u64 = 8;
/// Maximum number of rounds until everything has occurred.
const MAX_ROUNDS: u64 = 100;
/// The first seed; `PREAUTH_SIM_REAL_FROM` overrides it.
const FIRST: u64 = 20_000;

/// Runs rounds, and further ones until everything has occurred that can occur on a real database; in two
/// of three rounds many commits land late.
fn rounds_hold(ground: Kind, rounds: u64) {
    let first = asked("PREAUTH_SIM_REAL_FROM").unwrap_or(FIRST);
    let count = asked("PREAUTH_SIM_REAL").unwrap_or(rounds);
    let mut coverage = Coverage::over(ground);
    for round in 0..count.max(MAX_ROUNDS) {
        if round >= count && coverage.gaps().is_empty() {
            return;
        }
        let rates = if round % 3 == 0 {
            Rates::OfSeed
        } else {
            Rates::ManyLate
        };
        let plan = Plan {
            rates,
            ground,
            ..Plan::of_seed(first + round)
        };
        let outcome = plan.run();
        assert_sound(&outcome);
        coverage.add(&outcome.history);
    }
    assert_eq!(coverage.gaps(), Vec::<&str>::new(), "never happened");
}

/// Tries seeds until one finds the defect by this invariant.
fn finds(ground: Kind, defect: Defect, invariant: &str) {
    let finds = |seed| {
        let plan = Plan {
            ground,
            rates: Rates::ManyLate,
            defect: Some(defect),
            ..Plan::of_seed(seed)
        };
        let violations = plan.run().violations;
        violations.iter().any(|it| it.invariant == invariant)
    };
    assert!((0..10).any(finds), "{defect:?} on {ground:?} is not found");
}

#[test]
fn a_defect_of_the_code_above_sqlite_is_found() {
    finds(Kind::Sqlite, Defect::DeliveryLeftOut, "I4");
}

#[test]
fn a_defect_of_the_code_above_postgres_is_found() {
    finds(Kind::Postgres, Defect::DeliveryLeftOut, "I4");
}

#[test]
fn a_defect_within_sqlite_is_found() {
    finds(Kind::Sqlite, Defect::DeliveryRowsLost, "I4");
}

#[test]
fn a_defect_within_postgres_is_found() {
    finds(Kind::Postgres, Defect::DeliveryRowsLost, "I4");
}

#[test]
fn a_hand_over_without_a_lease_is_found_above_both() {
    for ground in [Kind::Sqlite, Kind::Postgres] {
        finds(ground, Defect::HandedOverWithoutLease, "I14");
    }
}

#[test]
fn hand_overs_that_are_lost_for_good_are_found_above_both() {
    for ground in [Kind::Sqlite, Kind::Postgres] {
        finds(ground, Defect::HandoverLostForGood, "I4");
    }
}

/// The simulated mail server and the port of the sender stand above both databases.
#[test]
fn defects_of_mails_above_sqlite_are_found() {
    for (defect, invariant) in [
        (Defect::MailNeverHandedOver, "I19"),
        (Defect::EndlessMailLease, "I19"),
        (Defect::MailSentWithoutLease, "I20"),
        (Defect::ClosedOfferMailed, "I20"),
        (Defect::MailLimitsIgnored, "I21"),
    ] {
        finds(Kind::Sqlite, defect, invariant);
    }
}

#[test]
fn mails_that_a_database_loses_are_found_on_both() {
    for ground in [Kind::Sqlite, Kind::Postgres] {
        finds(ground, Defect::MailRowsLost, "I19");
    }
}

/// Several instances commit at once there; on SQLite one commits after the other.
#[test]
fn a_cursor_that_passes_an_uncommitted_event_is_found_on_postgres() {
    finds(Kind::Postgres, Defect::CursorPassesUncommitted, "I17");
}

#[test]
fn rounds_on_sqlite_hold() {
    rounds_hold(Kind::Sqlite, ROUNDS_ON_SQLITE);
}

#[test]
fn rounds_of_several_instances_on_one_postgres_hold() {
    rounds_hold(Kind::Postgres, ROUNDS_ON_POSTGRES);
}
