//! Rows that every instance updates often: waiting a moment for each other is quicker than leaving
//! them out, until somebody holds one for long.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep};

/// How long a statement for many callers waits for a row; other instances' statements take less.
pub(super) const LOCK_TIMEOUT: &str = "100ms";
/// How long held rows are left out after one was last met.
const LEFT_OUT_FOR: Duration = Duration::from_secs(1);
/// How long the caller that needs a held row goes on asking.
const MAX_WAIT: Duration = Duration::from_secs(5);
const FIRST_PAUSE: Duration = Duration::from_millis(25);
const MAX_PAUSE: Duration = Duration::from_millis(400);

/// Whether held rows are waited for, or left out so that they delay nobody else.
#[derive(Debug, Default)]
pub(super) struct HeldRows(Mutex<Option<Instant>>);

impl HeldRows {
    pub(super) fn are_left_out(&self) -> bool {
        self.lock().is_some_and(|met| met.elapsed() < LEFT_OUT_FOR)
    }

    /// A statement met a row that others held.
    pub(super) fn note(&self) {
        *self.lock() = Some(Instant::now());
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Pauses between the turns of one caller whose row is held.
pub(super) struct Turns {
    began: Instant,
    pause: Duration,
}

impl Turns {
    pub(super) fn begin() -> Self {
        Self {
            began: Instant::now(),
            pause: FIRST_PAUSE,
        }
    }

    /// Whether there was time enough.
    pub(super) fn are_over(&self) -> bool {
        self.began.elapsed() >= MAX_WAIT
    }

    /// Waits until the next turn; `false`, at once, when there was time enough.
    pub(super) async fn next(&mut self) -> bool {
        if self.are_over() {
            return false;
        }
        sleep(self.pause).await;
        self.pause = self.pause.saturating_mul(2).min(MAX_PAUSE);
        true
    }
}
