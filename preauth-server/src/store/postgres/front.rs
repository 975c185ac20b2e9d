//! Where to start reading a queue in the order of an index, so that entries which left it are
//! skipped.
//!
//! While a snapshot of the database is held open, index entries outlive their rows, and each poll
//! from the front of a queue goes over all entries that left it since. So most polls begin where
//! the previous one found something, and a complete one at intervals finds late entries.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// The pause between two complete polls, as a multiple of their duration: they take a twentieth of
/// the time.
const REST_FACTOR: u32 = 20;
/// Maximum time between two complete polls.
const MAX_REST: Duration = Duration::from_secs(15);
/// How far before the last result a poll begins: rows with the same time are committed in any
/// order, and the clocks of two instances differ a little.
pub(super) const MARGIN_MS: i64 = 250;

/// When the next complete poll is due.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// `None` before the first poll.
    next: Option<Instant>,
}

impl Pace {
    pub(super) fn is_complete(&self, now: Instant) -> bool {
        self.next.is_none_or(|next| next <= now)
    }

    /// Records that a complete poll took this long.
    pub(super) fn note(&mut self, now: Instant, took: Duration) {
        let rest = took.saturating_mul(REST_FACTOR).min(MAX_REST);
        self.next = now.checked_add(rest);
    }
}

/// The front of one queue, in milliseconds.
#[derive(Debug, Default)]
pub(super) struct Front(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    from: i64,
    pace: Pace,
}

/// A poll of a queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    /// The earliest time that is read; 0 in a complete poll.
    pub(super) from: i64,
    began: Instant,
}

impl Front {
    /// Begins the next poll.
    pub(super) fn look(&self) -> Look {
        let (state, began) = (self.lock(), Instant::now());
        let is_complete = state.pace.is_complete(began);
        let from = if is_complete {
            0
        } else {
            state.from.saturating_sub(MARGIN_MS).max(0)
        };
        Look { from, began }
    }

    /// Records the end of a poll; nothing is left before `from`.
    pub(super) fn note(&self, look: Look, from: Option<i64>) {
        let (mut state, now) = (self.lock(), Instant::now());
        if look.from == 0 {
            state.pace.note(now, now.duration_since(look.began));
        }
        state.from = from.unwrap_or(state.from);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The queues that loops poll.
#[derive(Debug, Default)]
pub(super) struct Fronts {
    /// Offers, by expiry.
    pub(super) offers: Front,
    /// Mails, by next attempt.
    pub(super) notices: Front,
    /// Replies, by expiry.
    pub(super) replies: Front,
    /// Deliveries, by end.
    pub(super) ended_deliveries: Front,
    /// Mails, by end.
    pub(super) ended_notices: Front,
    /// Counts of rate windows, by beginning of the window.
    pub(super) rate_counts: Front,
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Front, MARGIN_MS};

    #[tokio::test(start_paused = true)]
    async fn a_look_begins_where_the_one_before_found_something() {
        let front = Front::default();
        let complete = front.look();
        assert_eq!(complete.from, 0);
        tokio::time::advance(Duration::from_millis(50)).await;
        front.note(complete, Some(90_000));
        let look = front.look();
        assert_eq!(look.from, 90_000 - MARGIN_MS);
        front.note(look, None);
        assert_eq!(front.look().from, 90_000 - MARGIN_MS, "nothing was found");
    }

    #[tokio::test(start_paused = true)]
    async fn complete_looks_take_a_twentieth_of_the_time() {
        let front = Front::default();
        let complete = front.look();
        tokio::time::advance(Duration::from_millis(50)).await;
        front.note(complete, Some(90_000));
        tokio::time::advance(Duration::from_millis(999)).await;
        assert_ne!(front.look().from, 0);
        tokio::time::advance(Duration::from_millis(1)).await;
        assert_eq!(front.look().from, 0);
    }
}
