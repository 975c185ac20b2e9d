//! The output of a failure: how to reproduce it, the violations, and the last facts.

use std::fmt::Write;

use crate::world::Outcome;

const LAST_LINES: usize = 200;

/// Fails unless a run has no violation.
pub(crate) fn assert_sound(outcome: &Outcome) {
    assert!(outcome.violations.is_empty(), "{}", report(outcome));
}

fn report(outcome: &Outcome) -> String {
    let mut text = String::new();
    let seed = outcome.seed;
    writeln!(
        text,
        "seed {seed} breaks what must hold; PREAUTH_SIM_SEED={seed} runs it again; add \
         it to tests/simulation/seeds.txt"
    )
    .unwrap();
    writeln!(text, "{:?}", outcome.mix).unwrap();
    let skipped = outcome.history.len().saturating_sub(LAST_LINES);
    for entry in &outcome.history[skipped..] {
        writeln!(text, "{entry}").unwrap();
    }
    for violation in &outcome.violations {
        writeln!(text, "{violation}").unwrap();
    }
    text
}
