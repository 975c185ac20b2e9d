//! The single-fault campaign: the same workload is repeated, and in each run exactly one call
//! fails: the first, the second, and so on to the last.

use crate::faults::{Fault, Planned};
use crate::history::Fact;
use crate::report::assert_sound;
use crate::world::Plan;

/// The workload.
const SEED: u64 = 3;

/// Injects `fault` at every position that allows it, one per run.
fn at_every_position(fault: Fault) {
    let undisturbed = Plan::of_campaign(SEED, None).run();
    assert_sound(&undisturbed);
    let mut runs = 0;
    for (position, call) in undisturbed.calls.iter().enumerate() {
        if call.can_meet(fault) {
            let planned = Planned { position, fault };
            let outcome = Plan::of_campaign(SEED, Some(planned)).run();
            let mut facts = outcome.history.iter().map(|entry| &entry.fact);
            assert!(facts.any(|fact| matches!(fact, Fact::Faulted { .. })));
            assert_sound(&outcome);
            runs += 1;
        }
    }
    assert!(runs > 15, "a campaign of {runs} runs shows nothing");
}

#[test]
fn every_call_may_fail() {
    at_every_position(Fault::Fails);
}

#[test]
fn every_write_may_lose_its_answer() {
    at_every_position(Fault::LosesAnswer);
}

#[test]
fn every_commit_may_fail_unseen_land_late_or_conflict() {
    at_every_position(Fault::FailsUnknown);
    at_every_position(Fault::LandsLate);
    at_every_position(Fault::Conflicts);
}

#[test]
fn every_commit_claim_and_outcome_may_meet_a_locked_row() {
    at_every_position(Fault::StaysLocked);
}

#[test]
fn every_call_may_be_the_last_before_its_effect() {
    at_every_position(Fault::KillsBefore);
}

// Contract: delivery/recorded-with-the-change
#[test]
fn every_call_may_be_the_last_after_its_effect() {
    at_every_position(Fault::KillsAfter);
}
