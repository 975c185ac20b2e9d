//! The single-fault campaign: the same workload is repeated, and in each run exactly one call
//! fails: the first, the second, and so on to the last.

use crate::faults::{Fault, Planned};
use crate::history::Fact;
use crate::report::assert_sound;
use crate::world::{Outcome, Plan};

/// The workload.
const SEED: u64 = 3;

/// Injects `fault` at every position that allows it, one per run.
fn at_every_position(fault: Fault) {
    let calls = undisturbed().calls.into_iter().enumerate();
    let positions = calls.filter(|(_, call)| call.can_meet(fault));
    let is_met = |fact: &Fact| matches!(fact, Fact::Faulted { .. });
    at_each(fault, positions.map(|(position, _)| position), is_met);
}

fn undisturbed() -> Outcome {
    let undisturbed = Plan::of_campaign(SEED, None).run();
    assert_sound(&undisturbed);
    undisturbed
}

/// Injects `fault` at each of these positions, one per run; `is_met` knows its fact.
fn at_each(fault: Fault, positions: impl Iterator<Item = usize>, is_met: fn(&Fact) -> bool) {
    let mut runs = 0;
    for position in positions {
        let planned = Planned { position, fault };
        let outcome = Plan::of_campaign(SEED, Some(planned)).run();
        assert!(outcome.history.iter().any(|entry| is_met(&entry.fact)));
        assert_sound(&outcome);
        runs += 1;
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

/// As if the instance had ended between its commit and the hand-over of one delivery.
#[test]
fn every_hand_over_may_be_lost() {
    let history = undisturbed().history;
    let facts = history.iter().map(|entry| &entry.fact);
    let facts = facts.take_while(|fact| !matches!(fact, Fact::Quiet));
    let handed_over = facts.filter(|fact| matches!(fact, Fact::HandedOver { .. }));
    let is_lost = |fact: &Fact| matches!(fact, Fact::HandedOver { is_lost: true, .. });
    at_each(Fault::LosesHandover, 0..handed_over.count(), is_lost);
}
