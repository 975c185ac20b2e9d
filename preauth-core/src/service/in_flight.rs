//! Idempotency keys that are being worked on in this process.
//!
//! Only a courtesy: it tells a hasty retry "in progress" at once. What makes a key safe across
//! processes and crashes is the reply, which is part of the commit.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use crate::value::{CompanyId, IdempotencyKey};

type Entry = (CompanyId, IdempotencyKey);

#[derive(Debug, Default)]
pub(super) struct InFlight(Mutex<HashSet<Entry>>);

impl InFlight {
    /// Enters a key until the guard is dropped; `None` when it is inside already.
    pub(super) fn enter(&self, head_office: CompanyId, key: &IdempotencyKey) -> Option<Guard<'_>> {
        let entry = (head_office, key.clone());
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        entries.insert(entry.clone()).then_some(Guard {
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
