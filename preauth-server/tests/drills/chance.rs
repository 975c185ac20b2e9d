//! Random moments and amounts, and the number of rounds.

use std::time::Duration;

use preauth_server::ids::random_bytes;

/// Multiplies the rounds of every drill, for long runs.
pub(crate) const ROUNDS: &str = "PREAUTH_DRILL_ROUNDS";

/// The usual number of rounds, multiplied in a long run.
pub(crate) fn rounds(usual: u32) -> u32 {
    let factor = std::env::var(ROUNDS).map_or(1, |text| text.parse().expect(ROUNDS));
    usual * factor
}

/// A random pause between the two bounds.
pub(crate) fn pause(from_ms: u64, to_ms: u64) -> Duration {
    let random = u64::from_le_bytes(random_bytes());
    Duration::from_millis(from_ms + random % (to_ms - from_ms + 1))
}
