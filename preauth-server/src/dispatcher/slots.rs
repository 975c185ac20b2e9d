//! Counts the attempts in progress, and the slow ones among them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Counts attempts; clones share the counts.
#[derive(Clone, Debug, Default)]
pub(super) struct Slots(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    all: AtomicU32,
    slow: AtomicU32,
}

/// An attempt in progress; dropping the slot ends it.
#[derive(Debug)]
pub(super) struct Slot {
    counts: Arc<Counts>,
    is_slow: bool,
}

impl Slots {
    /// Takes a slot, which is slow from the beginning if its endpoint is.
    pub(super) fn take(&self, is_slow: bool) -> Slot {
        self.0.all.fetch_add(1, Ordering::Relaxed);
        let mut slot = Slot {
            counts: Arc::clone(&self.0),
            is_slow: false,
        };
        if is_slow {
            slot.turn_slow();
        }
        slot
    }

    pub(super) fn in_use(&self) -> u32 {
        self.0.all.load(Ordering::Relaxed)
    }

    pub(super) fn in_slow_use(&self) -> u32 {
        self.0.slow.load(Ordering::Relaxed)
    }
}

impl Slot {
    /// Counts as slow from now on.
    pub(super) fn turn_slow(&mut self) {
        if !self.is_slow {
            self.is_slow = true;
            self.counts.slow.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.counts.all.fetch_sub(1, Ordering::Relaxed);
        if self.is_slow {
            self.counts.slow.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Slots;

    #[test]
    fn every_slot_is_given_back_as_what_it_was_at_the_end() {
        let slots = Slots::default();
        let (quick, slow, mut turning) = (slots.take(false), slots.take(true), slots.take(false));
        assert_eq!((slots.in_use(), slots.in_slow_use()), (3, 1));
        turning.turn_slow();
        turning.turn_slow();
        assert_eq!((slots.in_use(), slots.in_slow_use()), (3, 2));
        drop(turning);
        drop(quick);
        assert_eq!((slots.in_use(), slots.in_slow_use()), (1, 1));
        drop(slow);
        assert_eq!((slots.in_use(), slots.in_slow_use()), (0, 0));
    }
}
