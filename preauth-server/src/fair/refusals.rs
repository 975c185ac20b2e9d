//! How often queues had to say no.

use std::sync::atomic::{AtomicU64, Ordering};

use super::QueueError;

/// Requests that were refused so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refusals {
    /// There was no place for them.
    pub full: u64,
    /// They had waited for too long.
    pub timed_out: u64,
}

#[derive(Debug, Default)]
pub(super) struct Counts {
    full: AtomicU64,
    timed_out: AtomicU64,
}

impl Refusals {
    /// Those of two queues.
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
