//! Limits that the host configures and the contract does not fix, passed to decisions as data.

use chrono::TimeDelta;

/// The configurable limits of the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// How long an offer is valid, unless its due date ends it earlier. Default: 30 days.
    pub offer_lifetime: TimeDelta,
    /// How long an idempotency key is stored, from its first answer. Default: 30 days.
    pub idempotency_retention: TimeDelta,
    /// Whether the operator who released an operation for payment may not pay it. Default: off.
    pub four_eyes: bool,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            offer_lifetime: TimeDelta::days(30),
            idempotency_retention: TimeDelta::days(30),
            four_eyes: false,
        }
    }
}
