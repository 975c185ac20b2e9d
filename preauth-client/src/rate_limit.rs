//! The request limit, and headers with numbers.

use std::time::Duration;

use preauth_core::wire::header;
use reqwest::header::HeaderMap;

/// The request limit, as an answer reported it.
/// [Contract, "Limits"](https://example.com/preauth/blob/main/docs/reference.md#limits).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimit {
    limit: u64,
    remaining: u64,
    resets_in: Duration,
}

impl RateLimit {
    pub(crate) fn read(headers: &HeaderMap) -> Option<Self> {
        Some(Self {
            limit: number(headers, header::RATE_LIMIT_LIMIT)?,
            remaining: number(headers, header::RATE_LIMIT_REMAINING)?,
            resets_in: seconds(headers, header::RATE_LIMIT_RESET)?,
        })
    }

    /// Requests allowed in one window.
    #[must_use]
    pub const fn limit(&self) -> u64 {
        self.limit
    }

    /// Requests left in this window.
    #[must_use]
    pub const fn remaining(&self) -> u64 {
        self.remaining
    }

    /// Time until the next window begins, from the moment of the answer.
    #[must_use]
    pub const fn resets_in(&self) -> Duration {
        self.resets_in
    }
}

/// Reads a header in whole seconds, the only form in the contract; a date is ignored.
pub(crate) fn seconds(headers: &HeaderMap, name: &str) -> Option<Duration> {
    number(headers, name).map(Duration::from_secs)
}

pub(crate) fn number(headers: &HeaderMap, name: &str) -> Option<u64> {
    headers.get(name)?.to_str().ok()?.trim().parse().ok()
}
