//! How a receiver behaves or misbehaves.

use std::time::Duration;

use crate::http::Answer;
use crate::language::Language;

use super::words;

/// The status of `--fail` alone.
const FAILURE: u16 = 500;

/// How a receiver misbehaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FailureMode {
    /// For this number of deliveries from the first on; `None` for all.
    pub(super) first: Option<u64>,
    /// It answers this status.
    pub(super) status: Option<u16>,
    /// It does not answer.
    pub(super) hangs_up: bool,
    /// It answers after a delay.
    pub(super) delay: Option<Duration>,
}

impl FailureMode {
    /// The answer to the `nth` delivery, from 1, whose regular status is `due`.
    pub(super) fn answer(self, nth: u64, due: u16) -> Answer {
        if self.first.is_some_and(|first| nth > first) {
            return Answer::at_once(due);
        }
        let fails_plainly = self.first.is_some() && self.delay.is_none();
        let status = self.status.or(fails_plainly.then_some(FAILURE));
        Answer {
            after: self.delay.unwrap_or_default(),
            status: (!self.hangs_up).then_some(status.unwrap_or(due)),
        }
    }
}

impl FailureMode {
    /// The behaviour in words.
    pub(super) fn text(self, language: Language) -> String {
        if self == Self::default() {
            return words::AS_DUE.of(language).to_owned();
        }
        let when = match self.first {
            Some(1) => words::MISBEHAVES_ONCE.of(language).to_owned(),
            Some(first) => words::misbehaves_first(language, first),
            None => words::MISBEHAVES.of(language).to_owned(),
        };
        let answer = self.answer(1, 0);
        let what = match answer.status {
            None => words::CLOSES.of(language).to_owned(),
            Some(0) => words::ANSWERS_AS_DUE.of(language).to_owned(),
            Some(status) => words::answers(language, status),
        };
        let what = match self.delay {
            Some(delay) => words::after(language, &what, delay.as_secs()),
            None => what,
        };
        format!("{when}: {what}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(after_seconds: u64, status: Option<u16>) -> Answer {
        Answer {
            after: Duration::from_secs(after_seconds),
            status,
        }
    }

    #[test]
    fn without_a_wish_everybody_gets_what_is_due() {
        let failure_mode = FailureMode::default();
        assert_eq!(failure_mode.answer(1, 204), Answer::at_once(204));
        assert_eq!(failure_mode.answer(9, 400), Answer::at_once(400));
    }

    #[test]
    fn the_first_ones_fail_and_the_next_does_not() {
        let three = FailureMode {
            first: Some(3),
            ..FailureMode::default()
        };
        assert_eq!(three.answer(3, 204), Answer::at_once(500));
        assert_eq!(three.answer(4, 204), Answer::at_once(204));
        let unavailable = FailureMode {
            status: Some(503),
            ..three
        };
        assert_eq!(unavailable.answer(1, 204), Answer::at_once(503));
    }

    #[test]
    fn a_delay_changes_the_time_and_nothing_else() {
        let delay = Some(Duration::from_secs(12));
        let late = FailureMode {
            delay,
            ..FailureMode::default()
        };
        assert_eq!(late.answer(7, 204), answer(12, Some(204)));
        let late_at_first = FailureMode {
            first: Some(1),
            ..late
        };
        assert_eq!(late_at_first.answer(1, 204), answer(12, Some(204)));
        assert_eq!(late_at_first.answer(2, 204), answer(0, Some(204)));
        let hangs_up = FailureMode {
            hangs_up: true,
            ..late
        };
        assert_eq!(hangs_up.answer(1, 204), answer(12, None));
    }

    #[test]
    fn the_configured_behaviour_is_described() {
        let failure_mode = FailureMode {
            first: Some(2),
            status: Some(503),
            hangs_up: false,
            delay: Some(Duration::from_secs(12)),
        };
        assert_eq!(
            failure_mode.text(Language::English),
            "misbehaves for the first 2 deliveries: answers 503 after 12 s"
        );
        assert_eq!(
            failure_mode.text(Language::Portuguese),
            "falha nas primeiras 2 entregas: responde 503 após 12 s"
        );
        let hangs_up = FailureMode {
            hangs_up: true,
            ..FailureMode::default()
        };
        let text = hangs_up.text(Language::English);
        assert_eq!(text, "misbehaves: closes the connection");
    }
}
