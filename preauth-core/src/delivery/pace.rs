//! Which attempts are slow: those that occupy a slot for so long that other deliveries would wait for it.

use chrono::TimeDelta;

/// Minimum duration of a slow attempt.
///
/// Only the duration counts: a receiver that refuses at once delays no other delivery.
pub const SLOW_ATTEMPT: TimeDelta = TimeDelta::seconds(1);

/// Whether an attempt of this duration is slow.
#[must_use]
pub fn is_slow(duration: TimeDelta) -> bool {
    duration >= SLOW_ATTEMPT
}
