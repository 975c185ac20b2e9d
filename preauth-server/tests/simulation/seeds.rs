//! Seeds: those that ever failed, fixed ones, fresh ones in each run, and one on demand.

use preauth_server::ids::random_bytes;

use crate::coverage::Coverage;
use crate::ground::Kind;
use crate::mix::Rates;
use crate::report::assert_sound;
use crate::world::{Outcome, Plan};

/// The number of fresh seeds; `PREAUTH_SIM_FRESH` overrides it.
const FRESH: u64 = 200;

/// Runs seeds, and checks that they reach every rare event.
fn hold(seeds: impl Iterator<Item = u64>) {
    let mut coverage = Coverage::over(Kind::Memory);
    for seed in seeds {
        let outcome = Plan::of_seed(seed).run();
        assert_sound(&outcome);
        coverage.add(&outcome.history);
    }
    assert_eq!(coverage.gaps(), Vec::<&str>::new(), "never happened");
}

/// Runs seeds in which many commits land late, and checks that each kind of commit was applied late.
fn hold_with_many_late(seeds: impl Iterator<Item = u64>) {
    let mut coverage = Coverage::of_late_commits();
    for seed in seeds {
        let plan = Plan {
            rates: Rates::ManyLate,
            ..Plan::of_seed(seed)
        };
        let outcome = plan.run();
        assert_sound(&outcome);
        coverage.add(&outcome.history);
    }
    assert_eq!(coverage.gaps(), Vec::<&str>::new(), "never happened");
}

/// Every seed that ever failed, with its finding.
const FAILED_ONCE: &str = include_str!("seeds.txt");

/// Runs the seeds of a list, in order.
fn outcomes(list: &str) -> impl Iterator<Item = Outcome> {
    let lines = list.lines().map(|line| {
        let seed = line.split_once('#').map_or(line, |(seed, _)| seed);
        seed.trim()
    });
    let seeds = lines.filter(|seed| !seed.is_empty());
    seeds.map(|seed| Plan::of_seed(seed.parse().unwrap()).run())
}

#[test]
fn a_seed_that_failed_once_holds() {
    outcomes(FAILED_ONCE).for_each(|outcome| assert_sound(&outcome));
}

#[test]
fn a_list_of_seeds_has_one_per_line_with_its_finding() {
    let list = "# why there is a list\n\n 7\n18446744073709551615 # the last one\n";
    let seeds: Vec<u64> = outcomes(list).map(|outcome| outcome.seed).collect();
    assert_eq!(seeds, [7, u64::MAX]);
}

#[test]
#[should_panic(expected = "InvalidDigit")]
fn a_list_of_seeds_with_something_else_in_it_is_no_list() {
    outcomes("seven\n").for_each(drop);
}

#[test]
fn seeds_below_500_hold() {
    hold(0..500);
}

#[test]
fn seeds_from_500_hold() {
    hold(500..1_000);
}

#[test]
fn seeds_from_1000_hold() {
    hold(1_000..1_500);
}

#[test]
fn seeds_from_1500_hold() {
    hold(1_500..2_000);
}

#[test]
fn every_kind_of_commit_lands_late() {
    hold_with_many_late(0..300);
}

#[test]
#[expect(clippy::print_stdout, reason = "a seed that nobody knows is lost")]
fn fresh_seeds_hold() {
    let first = u64::from_be_bytes(random_bytes());
    let count = asked("PREAUTH_SIM_FRESH").unwrap_or(FRESH);
    println!("{count} seeds from {first}");
    for number in 0..count {
        assert_sound(&Plan::of_seed(first.wrapping_add(number)).run());
    }
}

#[test]
fn the_seed_that_is_asked_for_holds() {
    if let Some(seed) = asked("PREAUTH_SIM_SEED") {
        assert_sound(&Plan::of_seed(seed).run());
    }
}

#[test]
fn a_seed_is_a_run() {
    for seed in 0..50 {
        let (first, second) = (Plan::of_seed(seed).run(), Plan::of_seed(seed).run());
        assert_eq!(first.trace(), second.trace(), "seed {seed}");
    }
}

pub(crate) fn asked(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}
