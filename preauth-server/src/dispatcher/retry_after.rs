//! The header `Retry-After`: seconds, or a date.

use chrono::DateTime;
use preauth_core::value::Timestamp;

/// When a receiver asks for the next attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryAfter {
    /// A number of seconds.
    Seconds(u32),
    /// A time.
    At(Timestamp),
}

impl RetryAfter {
    /// Parses the header's value; `None` when it is invalid.
    #[must_use]
    pub fn parse(value: &str) -> Option<Self> {
        let value = value.trim();
        if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
            // An overflow means a very long time; the schedule limits it.
            return Some(Self::Seconds(value.parse().unwrap_or(u32::MAX)));
        }
        let date = DateTime::parse_from_rfc2822(value).ok()?;
        Some(Self::At(Timestamp::from_datetime(date.to_utc())))
    }

    /// The seconds from `now`; zero for a time in the past.
    #[must_use]
    pub fn seconds_from(self, now: Timestamp) -> u32 {
        match self {
            Self::Seconds(seconds) => seconds,
            Self::At(moment) => {
                let seconds = moment.since(now).num_seconds().max(0);
                u32::try_from(seconds).unwrap_or(u32::MAX)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RetryAfter;
    use preauth_core::value::Timestamp;

    #[test]
    fn seconds_and_dates_are_understood() {
        let now = Timestamp::parse("2026-11-21T12:00:00Z").unwrap();
        let delay = |value| RetryAfter::parse(value).map(|asked| asked.seconds_from(now));
        assert_eq!(delay("120"), Some(120));
        assert_eq!(delay(" 0 "), Some(0));
        assert_eq!(delay("99999999999999999999"), Some(u32::MAX));
        assert_eq!(delay("Sat, 21 Nov 2026 12:05:00 GMT"), Some(300));
        assert_eq!(delay("Sat, 21 Nov 2026 11:00:00 GMT"), Some(0));
    }

    #[test]
    fn a_value_that_is_neither_seconds_nor_a_date_is_ignored() {
        for value in ["", "-1", "+1", "1.5", "soon", "١٢", "2026-11-21T12:00:00Z"] {
            assert_eq!(RetryAfter::parse(value), None, "{value}");
        }
    }
}
