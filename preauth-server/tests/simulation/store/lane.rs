//! Rows that somebody has locked: only what needs them waits.

use std::time::Duration;

use tokio::sync::RwLock;
use tokio::time::Instant;

use crate::clock::sleep_ms;
use crate::history::Fact;

/// How long work waits for a lock before it is refused.
pub(super) const LOCK_WAIT_MS: u64 = 5_000;
/// Maximum wait for a lock that is another's.
const MAX_WAIT: Duration = Duration::from_millis(500);

/// Where one piece of work that waits for a lock could make all others of its kind wait.
#[derive(Debug)]
pub(super) struct Lane {
    kind: &'static str,
    lock: RwLock<()>,
}

impl Lane {
    pub(super) const fn of(kind: &'static str) -> Self {
        Self {
            kind,
            lock: RwLock::const_new(()),
        }
    }

    /// Waits for a locked row; others do not wait, unless that is the defect.
    pub(super) async fn wait(&self, millis: u64, stops_all: bool) {
        let _held = if stops_all {
            Some(self.lock.write().await)
        } else {
            None
        };
        sleep_ms(millis).await;
    }

    /// The first step of every piece of work; returns a violation if it had to wait.
    pub(super) async fn pass(&self) -> Option<Fact> {
        let asked = Instant::now();
        drop(self.lock.read().await);
        let waited = asked.elapsed();
        let kind = self.kind;
        (waited > MAX_WAIT).then(|| {
            Fact::Broken(format!(
                "{kind} waited {waited:?} for a lock that is not its own"
            ))
        })
    }
}
