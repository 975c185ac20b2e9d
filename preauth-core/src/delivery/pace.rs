//! Which attempts are slow: those that hold a place for so long that others would miss it.

use chrono::TimeDelta;

/// An attempt that takes this long, or longer, is slow.
///
/// What counts is time alone: a receiver that refuses at once is nobody's burden.
pub const SLOW_ATTEMPT: TimeDelta = TimeDelta::seconds(1);

/// Whether an attempt of this duration is slow.
#[must_use]
pub fn is_slow(duration: TimeDelta) -> bool {
    duration >= SLOW_ATTEMPT
}
