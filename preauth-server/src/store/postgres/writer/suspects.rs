//! Remembers which conflict keys stay locked in a way that only a timeout shows.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use preauth_core::port::Commit;
use tokio::time::Instant;

use super::conflicts::{ConflictKey, conflict_keys};

/// How long something is suspected after its last timeout.
const SUSPECTED_FOR: Duration = Duration::from_secs(10);
/// Maximum number of suspects.
const MAX_SUSPECTS: usize = 4096;

/// The conflict keys of commits that timed out. Other commits with the same key go aside before they
/// cost their group a timeout.
#[derive(Debug, Default)]
pub(in super::super) struct Suspects(Mutex<HashMap<ConflictKey, Instant>>);

impl Suspects {
    /// Adds the keys of a commit that timed out alone.
    pub(super) fn note(&self, commit: &Commit) {
        let mut suspects = self.lock();
        suspects.retain(|_, since| since.elapsed() < SUSPECTED_FOR);
        if suspects.len() < MAX_SUSPECTS {
            let now = Instant::now();
            suspects.extend(conflict_keys(commit).into_iter().map(|key| (key, now)));
        }
    }

    /// Removes the keys of a commit that did not time out.
    pub(super) fn clear(&self, commit: &Commit) {
        let mut suspects = self.lock();
        if !suspects.is_empty() {
            for key in conflict_keys(commit) {
                suspects.remove(&key);
            }
        }
    }

    /// Whether `commit` has a key that stayed locked.
    pub(super) fn concern(&self, commit: &Commit) -> bool {
        let suspects = self.lock();
        !suspects.is_empty()
            && conflict_keys(commit).iter().any(|key| {
                suspects
                    .get(key)
                    .is_some_and(|since| since.elapsed() < SUSPECTED_FOR)
            })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<ConflictKey, Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
