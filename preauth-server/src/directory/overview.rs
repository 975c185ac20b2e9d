//! What needs attention over all companies.

use async_trait::async_trait;
use chrono::TimeDelta;
use preauth_core::port::Unavailable;
use preauth_core::value::{ApiKeyId, CompanyId, Timestamp};

/// Keys that end within this time are reported.
pub const KEYS_ENDING_WITHIN: TimeDelta = TimeDelta::days(30);

/// Records that somebody should look at; each number is counted up to 10,000, and each list has the 20 that
/// are most urgent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attention {
    /// Deliveries that wait after a failed attempt.
    pub retried_deliveries: u64,
    /// Deliveries that have been due for five minutes.
    pub overdue_deliveries: u64,
    /// Deliveries that were given up in the last day.
    pub failed_deliveries: u64,
    /// Mails that wait because their address has reached the limit of the day.
    pub held_mails: u64,
    /// Mails that were given up in the last day.
    pub failed_mails: u64,
    /// Endpoints of which a delivery waits after a failed attempt.
    pub failing_endpoints: Vec<CompanyAttention>,
    /// Paused endpoints.
    pub paused_endpoints: Vec<CompanyAttention>,
    /// Keys that end soon.
    pub ending_keys: Vec<EndingKey>,
}

/// A head office, and since when its endpoint needs attention.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompanyAttention {
    /// The head office.
    pub company: CompanyId,
    /// Its name.
    pub name: String,
    /// Since when.
    pub since: Timestamp,
}

/// A valid key that ends soon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndingKey {
    /// The key.
    pub id: ApiKeyId,
    /// Its name.
    pub name: String,
    /// Whose it is.
    pub company: CompanyId,
    /// From when on it is refused.
    pub expires_at: Timestamp,
}

/// Reads over all companies.
#[async_trait]
pub trait Overview: Send + Sync {
    /// What needs attention at `now`.
    async fn attention(&self, now: Timestamp) -> Result<Attention, Unavailable>;
}
