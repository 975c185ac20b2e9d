//! The one place that reads the machine's clocks.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Instant;

use chrono::{TimeDelta, Utc};
use preauth_core::value::Timestamp;

/// Tells the time to everything that decides by it.
pub trait Clock: Send + Sync {
    /// Now, in UTC, with milliseconds.
    fn now(&self) -> Timestamp;
}

/// The machine's clock, as set by its operator.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the adapter that provides the time"
    )]
    fn now(&self) -> Timestamp {
        Timestamp::from_datetime(Utc::now())
    }
}

/// The machine's clock and an offset that only grows: time travel for sandbox and tests.
#[derive(Debug, Default)]
pub struct TravelClock {
    ahead_ms: AtomicI64,
}

impl TravelClock {
    /// Moves the clock forward for everybody who asks it.
    pub fn advance(&self, delta: TimeDelta) {
        self.ahead_ms
            .fetch_add(delta.num_milliseconds().max(0), Ordering::SeqCst);
    }
}

impl Clock for TravelClock {
    fn now(&self) -> Timestamp {
        let ahead = TimeDelta::milliseconds(self.ahead_ms.load(Ordering::SeqCst));
        SystemClock.now().saturating_add(ahead)
    }
}

/// Measures how long something took; unlike [`Clock`] it never jumps.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts measuring.
    #[must_use]
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the adapter that measures time"
    )]
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// How long since the start.
    #[must_use]
    pub fn elapsed(&self) -> TimeDelta {
        TimeDelta::from_std(self.0.elapsed()).unwrap_or(TimeDelta::MAX)
    }
}
