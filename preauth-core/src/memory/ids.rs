//! Ids from counters, so that a run can be repeated exactly.

use std::sync::atomic::{AtomicU64, Ordering};

use uuid::Uuid;

use crate::port::IdSource;
use crate::value::Timestamp;

/// Generates ids in ascending order: the namespace in the upper half, a count from 1 in the lower
/// half. They are not UUIDv7 and contain no time.
#[derive(Debug)]
pub struct CountingIds {
    namespace: u64,
    given: AtomicU64,
}

impl CountingIds {
    /// Counts in namespace 0.
    #[must_use]
    pub const fn new() -> Self {
        Self::in_namespace(0)
    }

    /// Counts in this namespace, independently of other namespaces.
    #[must_use]
    pub const fn in_namespace(namespace: u64) -> Self {
        Self {
            namespace,
            given: AtomicU64::new(0),
        }
    }
}

impl Default for CountingIds {
    fn default() -> Self {
        Self::new()
    }
}

impl IdSource for CountingIds {
    fn uuid(&self, _now: Timestamp) -> Uuid {
        let count = self.given.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        Uuid::from_u64_pair(self.namespace, count)
    }
}

#[cfg(test)]
mod tests {
    use super::CountingIds;
    use crate::port::IdSource;
    use crate::value::Timestamp;

    #[test]
    fn identifiers_ascend_and_namespaces_stay_apart() {
        let (here, there) = (CountingIds::in_namespace(1), CountingIds::in_namespace(2));
        let first = here.uuid(Timestamp::MIN);
        let second = here.uuid(Timestamp::MIN);
        assert!(first < second);
        assert!(second < there.uuid(Timestamp::MIN));
    }
}
