//! The number of requests that queues refused.

use std::sync::atomic::{AtomicU64, Ordering};

use super::QueueError;

/// Requests that were refused so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refusals {
    /// The queue was full.
    pub full: u64,
    /// The request waited too long.
    pub timed_out: u64,
}

#[derive(Debug, Default)]
pub(super) struct Counts {
    full: AtomicU64,
    timed_out: AtomicU64,
}

impl Refusals {
    /// The sum of two queues.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            full: self.full.saturating_add(other.full),
            timed_out: self.timed_out.saturating_add(other.timed_out),
        }
    }
}

impl Counts {
    pub(super) fn note(&self, reason: QueueError) {
        match reason {
            QueueError::Full => self.full.fetch_add(1, Ordering::Relaxed),
            QueueError::TimedOut => self.timed_out.fetch_add(1, Ordering::Relaxed),
            QueueError::Closed | QueueError::Lost => 0,
        };
    }

    pub(super) fn refusals(&self) -> Refusals {
        Refusals {
            full: self.full.load(Ordering::Relaxed),
            timed_out: self.timed_out.load(Ordering::Relaxed),
        }
    }
}
