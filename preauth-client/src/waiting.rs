//! How long a call waits for a status, and the outcome.

use std::time::Duration;

use preauth_core::wire::PreAuthorization;

use crate::Response;
use crate::retry::fraction_of;

/// Half of 2^64: as a random number, one half.
const HALF: u64 = 1 << 63;

/// How often, and for how long, [`Client::wait_for_status`](crate::Client::wait_for_status) polls.
///
/// The first request is sent at once. The interval after request n is `first_interval` times 2^(n - 1),
/// at most `max_interval`, multiplied by a random factor between one half and one, so that many clients
/// do not poll at the same time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitPolicy {
    time: Duration,
    first_interval: Duration,
    max_interval: Duration,
}

impl WaitPolicy {
    /// Begins requests for `time` at most, first 2 s after one another, then longer, up to a minute. The last of them may take
    /// as long as any call ([`RetryPolicy`](crate::RetryPolicy)).
    #[must_use]
    pub const fn new(time: Duration) -> Self {
        Self {
            time,
            first_interval: Duration::from_secs(2),
            max_interval: Duration::from_secs(60),
        }
    }

    /// Maximum interval after the first request.
    #[must_use]
    pub const fn first_interval(mut self, interval: Duration) -> Self {
        self.first_interval = interval;
        self
    }

    /// Maximum interval after any request.
    #[must_use]
    pub const fn max_interval(mut self, interval: Duration) -> Self {
        self.max_interval = interval;
        self
    }

    pub(crate) const fn total(&self) -> Duration {
        self.time
    }

    /// The interval after request number `question`.
    pub(crate) fn interval(&self, question: u32, random: u64) -> Duration {
        let doublings = question.saturating_sub(1).min(31);
        let doubled = self
            .first_interval
            .saturating_mul(1_u32.wrapping_shl(doublings));
        let half = fraction_of(doubled.min(self.max_interval), HALF);
        half.saturating_add(fraction_of(half, random))
    }
}

/// How waiting for a status ended.
#[derive(Clone, Debug)]
#[must_use]
pub enum Waited {
    /// The operation has one of the statuses.
    Reached(Response<PreAuthorization>),
    /// It is REPROVED or CONCLUDED, and that status was not wanted.
    Closed(Response<PreAuthorization>),
    /// The time is up; this is the operation as it was read last.
    TimeIsUp(Response<PreAuthorization>),
}

impl Waited {
    /// The operation as it was read last, in each of the three cases.
    #[must_use]
    pub const fn operation(&self) -> &Response<PreAuthorization> {
        match self {
            Self::Reached(operation) | Self::Closed(operation) | Self::TimeIsUp(operation) => {
                operation
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_doubles_up_to_its_limit_and_is_never_less_than_half() {
        let policy =
            WaitPolicy::new(Duration::from_secs(3600)).max_interval(Duration::from_secs(10));
        let shortest = |question| policy.interval(question, 0).as_secs();
        let waits: Vec<_> = (1..=5).map(shortest).collect();
        assert_eq!(waits, [1, 2, 4, 5, 5]);
        let longest = policy.interval(1, u64::MAX);
        assert!(longest > Duration::from_millis(1999) && longest <= Duration::from_secs(2));
        assert_eq!(policy.interval(u32::MAX, 0), Duration::from_secs(5));
    }
}
