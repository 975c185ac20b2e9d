//! The requests in progress of each head office, and their maximum.
//!
//! A request is in progress until its answer is sent, and occupies a connection meanwhile. Rate
//! windows count requests of one key; a head office may have any number of keys.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use preauth_core::value::CompanyId;

/// The requests of one head office may occupy this fraction of a listener's connections: an eighth.
const FRACTION: usize = 8;

/// Counts the requests in progress; clones share the counts.
#[derive(Clone, Debug)]
pub struct RequestsInProgress {
    max: usize,
    counts: Arc<Mutex<Counts>>,
}

/// The number of requests of each head office that has any.
#[derive(Debug, Default)]
pub(super) struct Counts(HashMap<CompanyId, usize>);

/// A request in progress; the drop of its last clone ends it. As an extension of an answer it lasts
/// until the answer is sent.
#[derive(Clone, Debug)]
pub(super) struct InProgress(#[expect(dead_code, reason = "kept for its drop")] Arc<Counted>);

#[derive(Debug)]
struct Counted {
    head_office: CompanyId,
    counts: Arc<Mutex<Counts>>,
}

/// An eighth of a listener's connections, and one at least.
pub(super) fn eighth(max_connections: usize) -> usize {
    let eighth = max_connections.checked_div(FRACTION);
    eighth.unwrap_or_default().max(1)
}

impl Counts {
    pub(super) fn of(&self, head_office: CompanyId) -> usize {
        self.0.get(&head_office).copied().unwrap_or_default()
    }

    pub(super) fn head_offices(&self) -> usize {
        self.0.len()
    }

    pub(super) fn add(&mut self, head_office: CompanyId) {
        let count = self.0.entry(head_office).or_default();
        *count = count.saturating_add(1);
    }

    pub(super) fn remove(&mut self, head_office: CompanyId) {
        if let Some(count) = self.0.get_mut(&head_office) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.0.remove(&head_office);
            }
        }
    }
}

impl RequestsInProgress {
    /// For a listener that accepts this number of connections.
    #[must_use]
    pub fn new(max_connections: usize) -> Self {
        Self {
            max: eighth(max_connections),
            counts: Arc::default(),
        }
    }

    /// Counts a request; `None` when its head office has as many in progress as it may.
    pub(super) fn begin(&self, head_office: CompanyId) -> Option<InProgress> {
        let mut counts = lock(&self.counts);
        if counts.of(head_office) >= self.max {
            return None;
        }
        counts.add(head_office);
        Some(InProgress(Arc::new(Counted {
            head_office,
            counts: Arc::clone(&self.counts),
        })))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        lock(&self.counts).remove(self.head_office);
    }
}

fn lock(counts: &Mutex<Counts>) -> MutexGuard<'_, Counts> {
    counts.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use preauth_core::value::CompanyId;
    use uuid::Uuid;

    use super::{RequestsInProgress, lock};

    #[test]
    fn a_head_office_has_an_eighth_of_the_connections_and_one_at_least() {
        let head_office = CompanyId::new(Uuid::from_u128(1));
        for (connections, max) in [(1, 1), (15, 1), (16, 2), (2_048, 256)] {
            let requests = RequestsInProgress::new(connections);
            let begun: Vec<_> = (0..max).map(|_| requests.begin(head_office)).collect();
            assert!(begun.iter().all(Option::is_some), "{connections}");
            assert!(requests.begin(head_office).is_none(), "{connections}");
        }
    }

    #[test]
    fn nothing_is_left_of_requests_that_ended() {
        let [one, other] = [1, 2].map(|n| CompanyId::new(Uuid::from_u128(n)));
        let requests = RequestsInProgress::new(8);
        let first = requests.begin(one).unwrap();
        let copy = first.clone();
        assert!(requests.begin(other).is_some());
        drop(first);
        assert!(requests.begin(one).is_none());
        drop(copy);
        assert_eq!(lock(&requests.counts).head_offices(), 0);
        assert!(requests.begin(one).is_some());
    }
}
