//! The one place that reads the machine's clocks.

mod serving;
mod uptime;

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use chrono::{TimeDelta, Utc};
use preauth_core::value::Timestamp;
use tokio::sync::Notify;
use tokio::time::Instant;

pub use serving::{Comparison, MAX_OFFSET, ServingClock};
pub use uptime::{BootTime, Uptime};

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

/// The machine's clock and an offset that only grows: time travel for the sandbox.
#[derive(Debug, Default)]
pub struct TravelClock {
    ahead_ms: AtomicI64,
    sleepers: Mutex<Vec<Arc<Notify>>>,
}

impl TravelClock {
    /// A clock that is `ahead` of the machine's already.
    #[must_use]
    pub fn ahead_by(ahead: TimeDelta) -> Self {
        let clock = Self::default();
        clock.advance(ahead);
        clock
    }

    /// Has `sleeper` notified at every jump: a sleep measures real time and would outlast the
    /// moment it waits for.
    pub fn wakes(&self, sleeper: Arc<Notify>) {
        self.sleepers().push(sleeper);
    }

    /// Moves the clock forward for everybody who asks it, and wakes those who sleep.
    pub fn advance(&self, delta: TimeDelta) {
        self.ahead_ms
            .fetch_add(delta.num_milliseconds().max(0), Ordering::SeqCst);
        for sleeper in self.sleepers().iter() {
            // Who is not asleep just now finds this when it next lies down.
            sleeper.notify_one();
        }
    }

    /// How far it is ahead of the machine's.
    #[must_use]
    pub fn ahead(&self) -> TimeDelta {
        TimeDelta::milliseconds(self.ahead_ms.load(Ordering::SeqCst))
    }

    fn sleepers(&self) -> std::sync::MutexGuard<'_, Vec<Arc<Notify>>> {
        self.sleepers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for TravelClock {
    fn now(&self) -> Timestamp {
        SystemClock.now().saturating_add(self.ahead())
    }
}

/// Measures how long something took; unlike [`Clock`] it never jumps. Where a test's runtime has its
/// time stand still, so does this.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts measuring.
    #[must_use]
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// How long since the start.
    #[must_use]
    pub fn elapsed(&self) -> TimeDelta {
        TimeDelta::from_std(self.0.elapsed()).unwrap_or(TimeDelta::MAX)
    }
}
