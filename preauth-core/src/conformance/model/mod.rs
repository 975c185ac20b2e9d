//! A second opinion: a small model of what operations look like from outside, written from the
//! decisions and not from the code, against which a host and the service are run.
//!
//! A script is a row of numbers; each number spells one step. Any number is a valid step, so that a
//! failing script can be shortened by leaving numbers out.

mod answer;
mod compare;
mod deeds;
mod reference;
mod run;
mod spell;
mod step;
mod table;

pub use run::model_run;

/// A script of `length` steps that follows from `seed` alone.
#[must_use]
pub fn model_script(seed: u64, length: usize) -> Vec<u64> {
    let mut state = seed;
    let mut next = || {
        // SplitMix64: small, and every seed gives another row.
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    };
    (0..length).map(|_| next()).collect()
}
