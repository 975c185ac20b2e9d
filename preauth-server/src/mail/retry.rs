//! The consequence of a failed attempt to send a mail.

use chrono::TimeDelta;
use preauth_core::delivery::retry_at;
use preauth_core::value::Timestamp;

use super::queue::Outcome;
use super::transport::NotTaken;

/// Maximum delay between two attempts while no mail can be sent; there is no last attempt.
const MAX_SERVER_DELAY: TimeDelta = TimeDelta::minutes(5);

/// The consequence of the attempt that failed at `now`, the `attempts_made`-th one. `jitter` is any
/// number.
///
/// A mail that is not accepted now is retried on the schedule of deliveries, and then given up.
pub(super) fn outcome_after(
    failure: &NotTaken,
    attempts_made: u32,
    jitter: u32,
    now: Timestamp,
) -> Outcome {
    let error = failure.to_string();
    let scheduled = retry_at(attempts_made, jitter, None, now);
    match failure {
        NotTaken::Refused(_) => Outcome::Failed { at: now, error },
        NotTaken::NotYet(_) => match scheduled {
            Some(at) => Outcome::RetryAt { at, error },
            None => Outcome::Failed { at: now, error },
        },
        NotTaken::Nobody(_) => {
            let latest = now.saturating_add(MAX_SERVER_DELAY);
            let at = scheduled.map_or(latest, |at| at.min(latest));
            Outcome::RetryAt { at, error }
        }
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use preauth_core::value::Timestamp;

    use super::{NotTaken, Outcome, outcome_after};

    fn now() -> Timestamp {
        Timestamp::parse("2026-11-21T12:00:00Z").unwrap()
    }

    /// The seconds until the next attempt; `None` when the mail is given up.
    fn seconds(failure: &NotTaken, attempts_made: u32) -> Option<i64> {
        match outcome_after(failure, attempts_made, 0, now()) {
            Outcome::RetryAt { at, .. } => Some(at.since(now()).num_seconds()),
            Outcome::Failed { at, .. } => {
                assert_eq!(at, now());
                None
            }
            Outcome::Sent { .. } => panic!("a failure is not sent"),
        }
    }

    #[test]
    fn a_refused_mail_is_given_up_at_once() {
        assert_eq!(seconds(&NotTaken::Refused("no such user".into()), 1), None);
    }

    #[test]
    fn a_mail_refused_for_now_is_retried_on_the_schedule_and_then_given_up() {
        let failure = NotTaken::NotYet("greylisted".into());
        assert_eq!(seconds(&failure, 1), Some(5));
        assert_eq!(seconds(&failure, 10), Some(24 * 60 * 60));
        assert_eq!(seconds(&failure, 11), None);
    }

    #[test]
    fn a_server_that_is_gone_costs_no_mail_however_long_it_is() {
        let failure = NotTaken::Nobody("connection refused".into());
        assert_eq!(seconds(&failure, 1), Some(5));
        for attempts_made in [4, 11, 10_000, u32::MAX] {
            let longest = TimeDelta::minutes(5).num_seconds();
            assert_eq!(seconds(&failure, attempts_made), Some(longest));
        }
    }
}
