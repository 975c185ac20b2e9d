//! The same workload, faults and verdict on real databases: these determine the order of events, so
//! a seed gives a similar run, not an identical one.

use crate::defect::Defect;
use crate::ground::Kind;
use crate::report::assert_sound;
use crate::seeds::asked;
use crate::world::Plan;

/// Number of rounds, each of which takes seconds; `PREAUTH_SIM_REAL` overrides it.
const ROUNDS_ON_SQLITE: u64 = 16;
const ROUNDS_ON_POSTGRES: u64 = 8;
/// The first seed; `PREAUTH_SIM_REAL_FROM` overrides it.
const FIRST: u64 = 20_000;

fn rounds_hold(ground: Kind, rounds: u64) {
    let first = asked("PREAUTH_SIM_REAL_FROM").unwrap_or(FIRST);
    let count = asked("PREAUTH_SIM_REAL").unwrap_or(rounds);
    for seed in first..first + count {
        let plan = Plan {
            ground,
            ..Plan::of_seed(seed)
        };
        assert_sound(&plan.run());
    }
}

#[test]
fn a_defect_over_a_real_database_is_found() {
    let finds = |seed| {
        let plan = Plan {
            ground: Kind::Sqlite,
            defect: Some(Defect::DeliveryLeftOut),
            ..Plan::of_seed(seed)
        };
        let violations = plan.run().violations;
        violations
            .iter()
            .any(|violation| violation.invariant == "I4")
    };
    assert!((0..10).any(finds));
}

#[test]
fn rounds_on_sqlite_hold() {
    rounds_hold(Kind::Sqlite, ROUNDS_ON_SQLITE);
}

#[test]
fn rounds_of_several_instances_on_one_postgres_hold() {
    rounds_hold(Kind::Postgres, ROUNDS_ON_POSTGRES);
}
