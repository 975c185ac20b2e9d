//! Limits that are configuration rather than contract, passed into every decision as data.

use chrono::TimeDelta;

/// What a host may configure about the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// How long an offer stands when its due date does not end it earlier. Default: 30 days.
    pub offer_lifetime: TimeDelta,
    /// How long an idempotency key is remembered, from its first answer. Default: 30 days.
    pub idempotency_retention: TimeDelta,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            offer_lifetime: TimeDelta::days(30),
            idempotency_retention: TimeDelta::days(30),
        }
    }
}
