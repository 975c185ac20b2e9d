//! The simulated clock: the runtime's paused time, and jumps.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use chrono::TimeDelta;
use preauth_core::value::Timestamp;
use preauth_server::clock::Clock;
use tokio::time::Instant;

/// Where every run begins: 2026-11-21T12:00:00.000Z.
pub(crate) fn start() -> Timestamp {
    const UNIX_MILLIS: i64 = 1_795_262_400_000;
    Timestamp::from_unix_millis(UNIX_MILLIS).unwrap()
}

/// Time as every instance and the database see it. Timers do not notice when it jumps.
#[derive(Debug)]
pub(crate) struct SimClock {
    began: Instant,
    ahead_ms: AtomicI64,
}

impl SimClock {
    /// Made within the runtime whose time is paused.
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

    /// How long the run lasts by now, jumps included.
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
