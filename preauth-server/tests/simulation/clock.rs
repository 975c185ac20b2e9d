//! The simulated clock: the runtime's paused time, plus jumps.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use chrono::TimeDelta;
use preauth_core::value::Timestamp;
use preauth_server::clock::Clock;
use tokio::time::Instant;

/// The start of every run: 2026-11-21T12:00:00.000Z.
pub(crate) fn start() -> Timestamp {
    const UNIX_MILLIS: i64 = 1_795_262_400_000;
    Timestamp::from_unix_millis(UNIX_MILLIS).unwrap()
}

/// Time as the instances and the database see it. Jumps do not affect timers.
#[derive(Debug)]
pub(crate) struct SimClock {
    began: Instant,
    ahead_ms: AtomicI64,
}

impl SimClock {
    /// Must be created within the runtime whose time is paused.
    pub(crate) fn new() -> Self {
        Self {
            began: Instant::now(),
            ahead_ms: AtomicI64::new(0),
        }
    }

    pub(crate) fn jump(&self, by: TimeDelta) {
        let by_ms = by.num_milliseconds().max(0);
        self.ahead_ms.fetch_add(by_ms, Ordering::Relaxed);
    }

    /// The duration of the run so far, jumps included.
    pub(crate) fn elapsed(&self) -> TimeDelta {
        self.now().since(start())
    }
}

impl Clock for SimClock {
    fn now(&self) -> Timestamp {
        let passed = TimeDelta::from_std(self.began.elapsed()).unwrap();
        let ahead = TimeDelta::milliseconds(self.ahead_ms.load(Ordering::Relaxed));
        start().saturating_add(passed).saturating_add(ahead)
    }
}

/// Sleeps in simulated time.
pub(crate) async fn sleep_ms(ms: u64) {
    tokio::time::sleep(Duration::from_millis(ms)).await;
}
