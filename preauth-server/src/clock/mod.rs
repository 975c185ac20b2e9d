//! Reads the machine's clocks; no other module does.

mod serving;
mod time_machine;
mod uptime;

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use chrono::{TimeDelta, Utc};
use preauth_core::value::Timestamp;
use tokio::sync::Notify;
use tokio::time::Instant;

pub use serving::{Comparison, MAX_OFFSET, ServingClock};
pub use time_machine::{TimeMachine, TravelError};
pub use uptime::{BootTime, Uptime};

/// The source of the current time for every decision.
pub trait Clock: Send + Sync {
    /// Now, in UTC, with milliseconds.
    fn now(&self) -> Timestamp;
}

/// The machine's clock.
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
    /// A clock that is already `ahead` of the machine's.
    #[must_use]
    pub fn ahead_by(ahead: TimeDelta) -> Self {
        let clock = Self::default();
        clock.advance(ahead);
        clock
    }

    /// Notifies `sleeper` at every jump: a sleep measures real time and would outlast the time that
    /// it waits for.
    pub fn wakes(&self, sleeper: Arc<Notify>) {
        self.sleepers().push(sleeper);
    }

    /// Moves the clock forward for every user, and wakes the sleepers.
    pub fn advance(&self, delta: TimeDelta) {
        self.ahead_ms
            .fetch_add(delta.num_milliseconds().max(0), Ordering::SeqCst);
        for sleeper in self.sleepers().iter() {
            // A sleeper that is awake now gets the notification at its next sleep.
            sleeper.notify_one();
        }
    }

    /// The offset from the machine's clock.
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

/// Measures durations; unlike [`Clock`] it never jumps. It stands still while a test's runtime has
/// paused time.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts the measurement.
    #[must_use]
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// The time since the start.
    #[must_use]
    pub fn elapsed(&self) -> TimeDelta {
        TimeDelta::from_std(self.0.elapsed()).unwrap_or(TimeDelta::MAX)
    }
}
