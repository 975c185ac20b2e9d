//! What is known to stay locked in a way that only a time-out shows.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use preauth_core::port::Commit;
use tokio::time::Instant;

use super::claims::{Claim, claims_of};

/// How long after its last time-out something is still suspected.
const SUSPECTED_FOR: Duration = Duration::from_secs(10);
/// How much is suspected at most.
const MAX_SUSPECTS: usize = 4096;

/// What timed-out commits were about. Whatever else is about the same goes aside before it costs
/// its group a time-out.
#[derive(Debug, Default)]
pub(in super::super) struct Suspects(Mutex<HashMap<Claim, Instant>>);

impl Suspects {
    /// A commit that timed out though it was alone.
    pub(super) fn note(&self, commit: &Commit) {
        let mut suspects = self.lock();
        suspects.retain(|_, since| since.elapsed() < SUSPECTED_FOR);
        if suspects.len() < MAX_SUSPECTS {
            let now = Instant::now();
            suspects.extend(claims_of(commit).into_iter().map(|claim| (claim, now)));
        }
    }

    /// A commit that did not time out.
    pub(super) fn clear(&self, commit: &Commit) {
        let mut suspects = self.lock();
        if !suspects.is_empty() {
            for claim in claims_of(commit) {
                suspects.remove(&claim);
            }
        }
    }

    /// Whether `commit` is about something that stayed locked.
    pub(super) fn concern(&self, commit: &Commit) -> bool {
        let suspects = self.lock();
        !suspects.is_empty()
            && claims_of(commit).iter().any(|claim| {
                suspects
                    .get(claim)
                    .is_some_and(|since| since.elapsed() < SUSPECTED_FOR)
            })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Claim, Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
