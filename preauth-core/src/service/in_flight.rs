//! Idempotency keys whose request is being processed in this process.
//!
//! This set is an optimization: it answers an early retry with "in progress" at once. Across processes
//! and crashes a key is protected by its reply, which is part of the commit.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use crate::port::ReplyScope;
use crate::value::IdempotencyKey;

type Entry = (ReplyScope, IdempotencyKey);

#[derive(Debug, Default)]
pub(super) struct InFlight(Mutex<HashSet<Entry>>);

impl InFlight {
    /// Inserts a key until the guard is dropped; `None` if the key is already in the set.
    pub(super) fn enter(&self, scope: ReplyScope, key: &IdempotencyKey) -> Option<Guard<'_>> {
        let entry = (scope, key.clone());
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Build the guard only after a successful insert; its drop removes the entry and takes the lock
        // that is held here.
        entries.insert(entry.clone()).then(|| Guard {
            in_flight: self,
            entry,
        })
    }
}

#[derive(Debug)]
pub(super) struct Guard<'a> {
    in_flight: &'a InFlight,
    entry: Entry,
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        let mut entries = self
            .in_flight
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        entries.remove(&self.entry);
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::InFlight;
    use crate::port::ReplyScope;
    use crate::value::{CompanyId, IdempotencyKey};

    #[test]
    fn a_key_is_inside_once_until_its_guard_is_dropped() {
        let in_flight = InFlight::default();
        let head_office = ReplyScope::HeadOffice(CompanyId::new(Uuid::from_u128(1)));
        let other = ReplyScope::HeadOffice(CompanyId::new(Uuid::from_u128(2)));
        let key = IdempotencyKey::parse("order:2026-0042").unwrap();
        let guard = in_flight.enter(head_office, &key);
        assert!(guard.is_some());
        assert!(in_flight.enter(head_office, &key).is_none());
        assert!(in_flight.enter(head_office, &key).is_none());
        assert!(in_flight.enter(other, &key).is_some());
        assert!(in_flight.enter(ReplyScope::Platform, &key).is_some());
        drop(guard);
        assert!(in_flight.enter(head_office, &key).is_some());
    }
}
