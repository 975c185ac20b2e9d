//! A small model of the visible state of operations, written from the decisions and not from the code. A
//! host and the service are compared with it.
//!
//! A script is a list of numbers; each number encodes one step. Any number is a valid step, so that a
//! failing script can be shortened by removing numbers.

mod answer;
mod compare;
mod deeds;
mod reference;
mod run;
mod spell;
mod step;
mod table;

pub use run::model_run;

/// A script of `length` steps, determined by `seed` alone.
#[must_use]
pub fn model_script(seed: u64, length: usize) -> Vec<u64> {
    let mut state = seed;
    let mut next = || {
        // SplitMix64: small, and every seed gives another sequence.
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    };
    (0..length).map(|_| next()).collect()
}
