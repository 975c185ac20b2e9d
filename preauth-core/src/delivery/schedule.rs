//! The retry schedule: immediately, then after growing delays; when it is used up, no further attempt is
//! automatic.

use chrono::TimeDelta;

use crate::value::Timestamp;

/// Delay before each attempt after the first, in seconds.
pub const RETRY_DELAYS_SECONDS: [i64; 10] = [
    5,
    60,
    5 * 60,
    30 * 60,
    2 * HOUR,
    5 * HOUR,
    10 * HOUR,
    14 * HOUR,
    24 * HOUR,
    24 * HOUR,
];
/// Days without any success after which an endpoint is paused at its next failure.
pub const ENDPOINT_PATIENCE_DAYS: i64 = 5;

/// Longer than any delay of the schedule, its jitter included, by more than clocks differ: an attempt that
/// is due later was put off by a clock that was ahead.
pub const MAX_RETRY_DELAY: TimeDelta = TimeDelta::hours(28);
/// Longer than any lease of a delivery or a mail, by more than clocks differ.
pub const MAX_LEASE: TimeDelta = TimeDelta::minutes(10);

const HOUR: i64 = 60 * 60;
/// Maximum delay that a receiver may request with `Retry-After`.
const RETRY_AFTER_LIMIT_SECONDS: i64 = HOUR;
/// Jitter: each delay grows by up to a tenth, so that retries do not all happen at the same time.
const JITTER_DIVISOR: i64 = 10;

/// When a delivery is tried again after its `attempts_made`-th attempt failed at `now`; `None`
/// when the schedule is used up.
///
/// `jitter` is any number, preferably random. `retry_after` is the delay that the receiver requested, in
/// seconds; it is honoured up to an hour when it is longer than the schedule's delay.
#[must_use]
pub fn retry_at(
    attempts_made: u32,
    jitter: u32,
    retry_after: Option<u32>,
    now: Timestamp,
) -> Option<Timestamp> {
    let index = usize::try_from(attempts_made.checked_sub(1)?).ok()?;
    let delay_ms = RETRY_DELAYS_SECONDS.get(index)?.saturating_mul(1000);
    let jitter_range = delay_ms.checked_div(JITTER_DIVISOR)?.saturating_add(1);
    let jitter_ms = i64::from(jitter).checked_rem(jitter_range)?;
    let asked_ms = i64::from(retry_after.unwrap_or(0))
        .min(RETRY_AFTER_LIMIT_SECONDS)
        .saturating_mul(1000);
    let delay = delay_ms.saturating_add(jitter_ms).max(asked_ms);
    Some(now.saturating_add(TimeDelta::milliseconds(delay)))
}

/// Whether an endpoint that was last healthy at `healthy_at` must be paused at a failure at `now`.
#[must_use]
pub fn endpoint_is_lost(healthy_at: Timestamp, now: Timestamp) -> bool {
    now.since(healthy_at) >= TimeDelta::days(ENDPOINT_PATIENCE_DAYS)
}

#[cfg(test)]
mod tests {
    use super::{MAX_RETRY_DELAY, RETRY_DELAYS_SECONDS, endpoint_is_lost, retry_at};
    use crate::value::Timestamp;
    use chrono::TimeDelta;

    fn start() -> Timestamp {
        Timestamp::parse("2026-11-21T12:00:00.000Z").unwrap()
    }

    #[test]
    fn eleven_attempts_are_made_in_all() {
        for (made, seconds) in (1..).zip(RETRY_DELAYS_SECONDS) {
            let due = retry_at(made, 0, None, start()).unwrap();
            assert_eq!(due.since(start()), TimeDelta::seconds(seconds));
        }
        assert_eq!(retry_at(11, 0, None, start()), None);
        assert_eq!(retry_at(u32::MAX, 0, None, start()), None);
    }

    #[test]
    fn jitter_adds_at_most_a_tenth() {
        for jitter in [0, 1, 499, 500, 501, 12_345, u32::MAX] {
            let delay = retry_at(1, jitter, None, start()).unwrap().since(start());
            assert!(delay >= TimeDelta::seconds(5), "{delay}");
            assert!(delay <= TimeDelta::milliseconds(5_500), "{delay}");
        }
    }

    #[test]
    fn no_delay_is_as_long_as_the_maximum() {
        for made in 1..=10 {
            let most = [0, u32::MAX].map(|asked| {
                let longest_jitter = 8_640_000;
                retry_at(made, longest_jitter, Some(asked), start()).unwrap()
            });
            let delay = most.into_iter().max().unwrap().since(start());
            assert!(delay < MAX_RETRY_DELAY - TimeDelta::hours(1), "{delay}");
        }
    }

    #[test]
    fn a_receiver_may_ask_for_a_longer_delay_of_up_to_an_hour() {
        let delay = |asked| retry_at(1, 0, Some(asked), start()).unwrap().since(start());
        assert_eq!(delay(1), TimeDelta::seconds(5));
        assert_eq!(delay(120), TimeDelta::seconds(120));
        assert_eq!(delay(u32::MAX), TimeDelta::hours(1));
    }

    #[test]
    fn an_endpoint_is_lost_after_five_whole_days() {
        let later = |delta| start().saturating_add(delta);
        assert!(!endpoint_is_lost(
            start(),
            later(TimeDelta::days(5) - TimeDelta::milliseconds(1))
        ));
        assert!(endpoint_is_lost(start(), later(TimeDelta::days(5))));
    }
}
