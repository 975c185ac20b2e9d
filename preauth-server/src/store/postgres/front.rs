//! Where a queue begins that is read in the order of an index, so that what left it is not gone over again.
//!
//! While somebody holds a snapshot of the database open, the entries of an index outlive the rows that
//! they stood for, and each look at the front of a queue goes over all that left it since. So most looks
//! begin where the one before found something, and a complete one now and then finds what came late.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// So many times as long as it took pass between two complete looks, which take a twentieth of the time.
const REST_FACTOR: u32 = 20;
/// Longest time between two complete looks.
const MAX_REST: Duration = Duration::from_secs(15);
/// How far before what was found a look begins: what belongs to one moment is committed in any order,
/// and the clocks of two instances differ a little.
pub(super) const MARGIN_MS: i64 = 250;

/// When the next look is a complete one.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// None before the first.
    next: Option<Instant>,
}

impl Pace {
    pub(super) fn is_complete(&self, now: Instant) -> bool {
        self.next.is_none_or(|next| next <= now)
    }

    /// Takes note that a complete look took so long.
    pub(super) fn note(&mut self, now: Instant, took: Duration) {
        let rest = took.saturating_mul(REST_FACTOR).min(MAX_REST);
        self.next = now.checked_add(rest);
    }
}

/// Where one queue begins, in milliseconds.
#[derive(Debug, Default)]
pub(super) struct Front(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    from: i64,
    pace: Pace,
}

/// A look at a queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    /// Nothing before this moment is looked for; 0 in a complete look.
    pub(super) from: i64,
    began: Instant,
}

impl Front {
    /// The next look, which begins now.
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

    /// Takes note of the end of a look, and before which moment nothing is left.
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

/// The queues of the loops that look again and again.
#[derive(Debug, Default)]
pub(super) struct Fronts {
    /// Offers, by their expiry.
    pub(super) offers: Front,
    /// Mails, by their next attempt.
    pub(super) notices: Front,
    /// Replies, by the end of their memory.
    pub(super) replies: Front,
    /// Deliveries, by their end.
    pub(super) ended_deliveries: Front,
    /// Mails, by their end.
    pub(super) ended_notices: Front,
    /// Counts of rate windows, by their begin.
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
