//! How much the dispatcher does at once, and how long anything may take.

use std::num::NonZeroU32;
use std::time::Duration;

use chrono::TimeDelta;

/// The dispatcher's bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Attempts under way in this process. Default: 512.
    pub in_all: NonZeroU32,
    /// Attempts under way to one endpoint, from all processes. Default: 8.
    pub per_endpoint: NonZeroU32,
    /// How long a delivery is leased; longer than an attempt and its recording. Default: 30 s.
    pub lease: TimeDelta,
    /// An attempt that takes longer is given up even if the sender is not. Default: 12 s.
    pub attempt: Duration,
    /// How long the end waits for attempts under way before it returns them. Default: 5 s.
    pub drain: Duration,
    /// The longest pause between two looks at the outbox. Default: 1 s.
    pub poll: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            in_all: const { NonZeroU32::new(512).unwrap() },
            per_endpoint: const { NonZeroU32::new(8).unwrap() },
            lease: TimeDelta::seconds(30),
            attempt: Duration::from_secs(12),
            drain: Duration::from_secs(5),
            poll: Duration::from_secs(1),
        }
    }
}
