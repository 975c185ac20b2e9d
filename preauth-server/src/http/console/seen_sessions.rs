//! Sessions that were valid in this process, so that the limit on wrong cookies does not shut them out.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::access::KeyHash;

/// Maximum number of sessions remembered; the next one makes the set start anew.
const MAX_SESSIONS: usize = 10_000;

/// Hashes of sessions; whether one is still valid is looked up at each request.
#[derive(Debug, Default)]
pub(super) struct SeenSessions(Mutex<HashSet<KeyHash>>);

impl SeenSessions {
    pub(super) fn contains(&self, session: &KeyHash) -> bool {
        self.set().contains(session)
    }

    pub(super) fn remember(&self, session: &KeyHash) {
        let mut set = self.set();
        if set.len() >= MAX_SESSIONS && !set.contains(session) {
            set.clear();
        }
        set.insert(*session);
    }

    fn set(&self) -> MutexGuard<'_, HashSet<KeyHash>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
