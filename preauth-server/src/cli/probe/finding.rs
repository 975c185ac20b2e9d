//! From answers to a finding.

use preauth_core::port::AttemptError;

use super::check::{Check, Expected};
use super::fault::Fault;
use super::sender::Reply;

/// How long the service waits for an answer.
const MAX_ANSWER_MS: i64 = 10_000;

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Finding {
    /// As it must be.
    Right,
    /// Not wrong, but worth a word.
    Note(Fault),
    /// Wrong.
    Wrong(Fault),
    /// Not tried, because no genuine delivery was confirmed.
    Skipped,
}

impl Finding {
    /// The finding of a check by its answers; the first defect counts.
    pub(super) fn of(check: &Check, replies: &[Reply]) -> Self {
        let found = replies.iter().map(|reply| of_one(check, *reply));
        let worst = found.clone().find(|it| matches!(it, Self::Wrong(_)));
        worst
            .or_else(|| found.clone().find(|it| matches!(it, Self::Note(_))))
            .unwrap_or(Self::Right)
    }
}

fn of_one(check: &Check, reply: Reply) -> Finding {
    let is_late = reply.duration_ms > MAX_ANSWER_MS;
    let status = match reply.status {
        Ok(status) => status,
        Err(AttemptError::TimedOut) => return Finding::Wrong(Fault::AnswersLate),
        Err(_) if check.expected == Expected::Refused => return Finding::Right,
        // The receiver answers other deliveries, so this one is what it does not bear.
        Err(_) if check.fault != Fault::RefusesGenuine => return Finding::Wrong(check.fault),
        Err(_) => return Finding::Wrong(Fault::NoAnswer),
    };
    if (300..400).contains(&status) {
        return Finding::Wrong(Fault::Redirects);
    }
    let is_confirmed = (200..300).contains(&status);
    match check.expected {
        Expected::Refused if is_confirmed => Finding::Wrong(check.fault),
        Expected::Confirmed if !is_confirmed => Finding::Wrong(check.fault),
        Expected::ConfirmedOrLater if !is_confirmed && !asks_again(status) => {
            Finding::Wrong(check.fault)
        }
        _ if is_late => Finding::Wrong(Fault::AnswersLate),
        Expected::Refused if status >= 500 => Finding::Note(Fault::BreaksOnForged),
        Expected::Refused | Expected::Confirmed | Expected::ConfirmedOrLater => Finding::Right,
    }
}

/// Whether a status is an answer to an event that is being worked on at the moment: it comes again.
const fn asks_again(status: u16) -> bool {
    matches!(status, 409 | 425 | 429 | 500..=599)
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use super::*;

    fn of(check: &Check, status: Result<u16, AttemptError>, duration_ms: i64) -> Finding {
        let reply = Reply {
            status,
            duration_ms,
        };
        Finding::of(check, &[reply])
    }

    #[test]
    fn a_genuine_delivery_is_confirmed_in_time() {
        let wrong = Finding::Wrong;
        let genuine = &check::GENUINE;
        assert_eq!(of(genuine, Ok(204), 10_000), Finding::Right);
        assert_eq!(of(genuine, Ok(204), 10_001), wrong(Fault::AnswersLate));
        assert_eq!(of(genuine, Ok(302), 1), wrong(Fault::Redirects));
        assert_eq!(of(genuine, Ok(400), 1), wrong(Fault::RefusesGenuine));
        let timed_out = Err(AttemptError::TimedOut);
        assert_eq!(of(genuine, timed_out, 15_000), wrong(Fault::AnswersLate));
        let closed = Err(AttemptError::Connection);
        assert_eq!(of(genuine, closed, 1), wrong(Fault::NoAnswer));
        assert_eq!(of(&check::LARGE, closed, 1), wrong(Fault::RefusesLarge));
    }

    #[test]
    fn a_forged_delivery_may_be_refused_in_any_way() {
        let forged = &check::FORGED;
        assert_eq!(of(forged, Ok(400), 1), Finding::Right);
        assert_eq!(of(forged, Err(AttemptError::Connection), 1), Finding::Right);
        assert_eq!(of(forged, Ok(500), 1), Finding::Note(Fault::BreaksOnForged));
        assert_eq!(of(forged, Ok(200), 1), Finding::Wrong(Fault::AcceptsForged));
    }

    #[test]
    fn of_parallel_duplicates_some_may_come_again() {
        let parallel = &check::PARALLEL_DUPLICATES;
        for status in [204, 409, 500, 503] {
            assert_eq!(of(parallel, Ok(status), 1), Finding::Right, "{status}");
        }
        let wrong = Finding::Wrong(Fault::RefusesDuplicate);
        assert_eq!(of(parallel, Ok(400), 1), wrong);
    }
}
