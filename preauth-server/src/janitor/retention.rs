//! How long records are kept.

use chrono::TimeDelta;

/// Retention of records after their end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Deliveries with their attempts, after the delivery ended. Default: 30 days.
    pub deliveries: TimeDelta,
    /// Mails, after they were sent or given up; `None`: for good. Default: 30 days.
    pub mails: Option<TimeDelta>,
    /// Invoice files, after their operation was concluded or reproved; `None`: for good. Default: for good.
    pub files: Option<TimeDelta>,
    /// The numbers by which events are read on request. Default: 30 days.
    pub events: TimeDelta,
    /// The last use of keys that are revoked or expired. Default: 30 days.
    pub rate_windows: TimeDelta,
}

impl Default for Retention {
    fn default() -> Self {
        Self {
            deliveries: TimeDelta::days(30),
            mails: Some(TimeDelta::days(30)),
            files: None,
            events: TimeDelta::days(30),
            rate_windows: TimeDelta::days(30),
        }
    }
}
