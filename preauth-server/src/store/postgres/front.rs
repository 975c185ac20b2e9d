//! Where to start reading a queue in the order of an index, so that entries which left it are
//! skipped.
//!
//! While a snapshot of the database is held open, index entries outlive their rows, and each poll
//! from the front of a queue goes over all entries that left it since. So most polls begin where
//! the previous one found something. Late entries are found at intervals by polls that begin some
//! seconds earlier, and by complete ones.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// The pause between two complete polls, as a multiple of their duration. While a snapshot is held open
/// they read every entry since it began, so they must be rare compared with polls of new entries.
const REST_FACTOR: u32 = 200;
/// Maximum time between two complete polls, and the pause after one that failed.
const MAX_REST: Duration = Duration::from_mins(1);
/// Time between two polls for rows that were committed late.
const RECENT_REST: Duration = Duration::from_secs(5);
/// How far before the last result a poll begins: rows with the same time are committed in any
/// order, and the clocks of two instances differ a little.
pub(super) const MARGIN_MS: i64 = 250;
/// The same for polls for rows that were committed late: a commit may wait for locks.
pub(super) const RECENT_MS: i64 = 15_000;

/// When the next complete poll is due.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// `None` before the first poll.
    next: Option<Instant>,
}

impl Pace {
    /// Whether the poll that begins now is complete. If it fails, the next complete poll is not soon.
    pub(super) fn begin(&mut self, now: Instant) -> bool {
        let is_complete = self.next.is_none_or(|next| next <= now);
        if is_complete {
            self.next = now.checked_add(MAX_REST);
        }
        is_complete
    }

    /// Records that a complete poll took this long.
    pub(super) fn note(&mut self, now: Instant, took: Duration) {
        let rest = took.saturating_mul(REST_FACTOR).min(MAX_REST);
        self.next = now.checked_add(rest);
    }
}

/// When the next poll for late rows is due.
#[derive(Debug, Default)]
pub(super) struct Recent {
    /// `None` before the first poll.
    next: Option<Instant>,
}

impl Recent {
    /// Whether the poll that begins now is for late rows.
    pub(super) fn begin(&mut self, now: Instant) -> bool {
        let is_recent = self.next.is_none_or(|next| next <= now);
        if is_recent {
            self.next = now.checked_add(RECENT_REST);
        }
        is_recent
    }
}

/// The front of one queue, in milliseconds.
#[derive(Debug, Default)]
pub(super) struct Front(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    from: i64,
    pace: Pace,
    recent: Recent,
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
        let (mut state, began) = (self.lock(), Instant::now());
        let is_recent = state.recent.begin(began);
        let from = if state.pace.begin(began) {
            0
        } else {
            let margin = if is_recent { RECENT_MS } else { MARGIN_MS };
            state.from.saturating_sub(margin).max(0)
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

/// A walk through a whole index, which nothing shortens.
#[derive(Debug, Default)]
pub(super) struct Walk(Mutex<Pace>);

impl Walk {
    /// Whether it is made now: it must take little of the time.
    pub(super) fn begin(&self) -> Option<Instant> {
        let now = Instant::now();
        self.lock().begin(now).then_some(now)
    }

    /// Records the end of a walk that began at `began` and found nothing.
    pub(super) fn note(&self, began: Instant) {
        let now = Instant::now();
        self.lock().note(now, now.duration_since(began));
    }

    /// Makes the next one due: there is something to find.
    pub(super) fn repeat(&self) {
        *self.lock() = Pace::default();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Pace> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The queues that loops poll.
#[derive(Debug, Default)]
pub(super) struct Fronts {
    /// Offers, by expiry.
    pub(super) offers: Front,
    /// Replies, by expiry.
    pub(super) replies: Front,
    /// Deliveries, by end.
    pub(super) ended_deliveries: Front,
    /// Mails, by end.
    pub(super) ended_mails: Front,
    /// Counts of rate windows, by beginning of the window.
    pub(super) rate_counts: Front,
    /// Deliveries of removed endpoints, among all endpoints with pending ones.
    pub(super) removed: Walk,
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Front, MARGIN_MS, RECENT_MS, RECENT_REST, Walk};

    const SECOND: Duration = Duration::from_secs(1);

    async fn after(front: &Front, took: Duration) {
        let complete = front.look();
        assert_eq!(complete.from, 0);
        tokio::time::advance(took).await;
        front.note(complete, Some(90_000));
    }

    #[tokio::test(start_paused = true)]
    async fn a_look_begins_where_the_one_before_found_something() {
        let front = Front::default();
        after(&front, SECOND).await;
        let look = front.look();
        assert_eq!(look.from, 90_000 - MARGIN_MS);
        front.note(look, None);
        assert_eq!(front.look().from, 90_000 - MARGIN_MS, "nothing was found");
    }

    #[tokio::test(start_paused = true)]
    async fn complete_looks_take_little_of_the_time() {
        let front = Front::default();
        after(&front, SECOND / 20).await;
        tokio::time::advance(Duration::from_millis(9_999)).await;
        assert_ne!(front.look().from, 0);
        tokio::time::advance(Duration::from_millis(1)).await;
        assert_eq!(front.look().from, 0);
        tokio::time::advance(Duration::from_secs(59)).await;
        assert_ne!(
            front.look().from,
            0,
            "that one failed, and is not repeated at once"
        );
        tokio::time::advance(SECOND).await;
        assert_eq!(front.look().from, 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_walk_that_found_nothing_is_not_made_again_soon() {
        let walk = Walk::default();
        let began = walk.begin().unwrap();
        tokio::time::advance(SECOND / 20).await;
        walk.note(began);
        tokio::time::advance(Duration::from_millis(9_999)).await;
        assert!(walk.begin().is_none());
        tokio::time::advance(Duration::from_millis(1)).await;
        assert!(walk.begin().is_some());
        assert!(walk.begin().is_none());
        walk.repeat();
        assert!(walk.begin().is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn looks_for_what_came_late_begin_seconds_earlier() {
        let front = Front::default();
        after(&front, SECOND).await;
        tokio::time::advance(RECENT_REST).await;
        assert_eq!(front.look().from, 90_000 - RECENT_MS);
        assert_eq!(front.look().from, 90_000 - MARGIN_MS);
    }
}
