//! How many attempts are under way.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Counts attempts; clones count together.
#[derive(Clone, Debug, Default)]
pub(super) struct Slots(Arc<AtomicU32>);

/// An attempt under way; dropping it ends it, however that comes.
#[derive(Debug)]
pub(super) struct Slot(Arc<AtomicU32>);

impl Slots {
    pub(super) fn take(&self) -> Slot {
        self.0.fetch_add(1, Ordering::Relaxed);
        Slot(Arc::clone(&self.0))
    }

    pub(super) fn in_use(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
