//! When a failed request is sent again.

use std::time::Duration;

/// When a failed request is sent again, and when the client gives up.
///
/// Every call is safe to repeat: reads, cancels, and creates, which always carry an idempotency key that
/// stays the same over all attempts of a call. A request is repeated after the failures for which
/// [`Error::is_retryable`](crate::Error::is_retryable) is true.
///
/// The delay before attempt n + 1 is random between zero and `first_delay` times 2^(n - 1), at most
/// `max_delay`, so that many clients do not retry at the same time. If the service states a delay
/// (`Retry-After`), it is added.
///
/// ```
/// use std::time::Duration;
/// use preauth_client::RetryPolicy;
///
/// let interactive = RetryPolicy::default()
///     .max_attempts(3)
///     .budget(Duration::from_secs(8));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    max_attempts: u32,
    first_delay: Duration,
    max_delay: Duration,
    budget: Duration,
}

impl Default for RetryPolicy {
    /// Five attempts, delays from 200 ms to 5 s, 75 s in total: longer than the window of the request
    /// limit, which is 60 s.
    fn default() -> Self {
        Self {
            max_attempts: 5,
            first_delay: Duration::from_millis(200),
            max_delay: Duration::from_secs(5),
            budget: Duration::from_secs(75),
        }
    }
}

impl RetryPolicy {
    /// A single attempt, within the default budget.
    #[must_use]
    pub fn never() -> Self {
        Self::default().max_attempts(1)
    }

    /// Maximum number of requests of one call; 0 counts as 1.
    #[must_use]
    pub const fn max_attempts(mut self, attempts: u32) -> Self {
        self.max_attempts = attempts;
        self
    }

    /// Maximum delay before the second attempt; it doubles with each further attempt.
    #[must_use]
    pub const fn first_delay(mut self, delay: Duration) -> Self {
        self.first_delay = delay;
        self
    }

    /// Maximum delay before any attempt, unless the service asks for more.
    #[must_use]
    pub const fn max_delay(mut self, delay: Duration) -> Self {
        self.max_delay = delay;
        self
    }

    /// Maximum time of the whole call, with all its attempts and delays. A delay that would exceed it is
    /// not begun, and the last failure is returned at once.
    #[must_use]
    pub const fn budget(mut self, budget: Duration) -> Self {
        self.budget = budget;
        self
    }

    /// Maximum time of the whole call.
    pub(crate) const fn total(&self) -> Duration {
        self.budget
    }

    /// How long to wait after attempt number `attempt` has failed; `None` when it was the last.
    pub(crate) fn wait_after(
        &self,
        attempt: u32,
        asked_for: Option<Duration>,
        random: u64,
    ) -> Option<Duration> {
        if attempt >= self.max_attempts {
            return None;
        }
        let doublings = attempt.saturating_sub(1).min(31);
        let doubled = self
            .first_delay
            .saturating_mul(1_u32.wrapping_shl(doublings));
        let jitter = fraction_of(doubled.min(self.max_delay), random);
        Some(asked_for.unwrap_or_default().saturating_add(jitter))
    }
}

/// `whole` scaled by `random` / 2^64.
pub(crate) fn fraction_of(whole: Duration, random: u64) -> Duration {
    let scaled = whole.as_nanos().saturating_mul(u128::from(random)) >> 64;
    Duration::from_nanos(u64::try_from(scaled).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy() -> RetryPolicy {
        RetryPolicy::default()
            .max_attempts(6)
            .first_delay(Duration::from_secs(1))
            .max_delay(Duration::from_secs(5))
    }

    /// The maximum delay, truncated to milliseconds because the largest random fraction is just below one.
    fn longest(attempt: u32) -> Option<u128> {
        let wait = policy().wait_after(attempt, None, u64::MAX)?;
        Some(wait.as_micros().div_ceil(1000))
    }

    #[test]
    fn the_longest_wait_doubles_up_to_its_limit_and_the_last_attempt_is_the_last() {
        let waits: Vec<_> = (1..=6).map(longest).collect();
        let seconds = [1, 2, 4, 5, 5].map(|seconds| Some(seconds * 1000));
        assert_eq!(waits[..5], seconds);
        assert_eq!(waits[5], None);
    }

    #[test]
    fn the_wait_is_anything_down_to_nothing() {
        assert_eq!(policy().wait_after(3, None, 0), Some(Duration::ZERO));
        assert_eq!(
            policy().wait_after(3, None, 1 << 63),
            Some(Duration::from_secs(2))
        );
    }

    #[test]
    fn the_requested_delay_is_added_to_the_backoff() {
        let wait = policy().wait_after(1, Some(Duration::from_secs(30)), 1 << 63);
        assert_eq!(wait, Some(Duration::from_millis(30_500)));
    }

    #[test]
    fn extreme_settings_do_not_overflow() {
        let policy = RetryPolicy::default()
            .max_attempts(u32::MAX)
            .first_delay(Duration::MAX)
            .max_delay(Duration::MAX);
        let wait = policy.wait_after(u32::MAX - 1, Some(Duration::MAX), u64::MAX);
        assert_eq!(wait, Some(Duration::MAX));
    }

    #[test]
    fn never_and_no_attempts_mean_one() {
        assert_eq!(RetryPolicy::never().wait_after(1, None, 0), None);
        assert_eq!(policy().max_attempts(0).wait_after(1, None, 0), None);
    }
}
