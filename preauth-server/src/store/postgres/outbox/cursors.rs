//! Where polls of the outbox begin, so that they skip what was delivered long ago.
//!
//! While a snapshot of the database is held open, index entries outlive their rows. A poll from the
//! front of an endpoint's queue then goes over everything that was delivered since. So most polls
//! begin at the earliest delivery that the previous poll found. Deliveries with an earlier time
//! that came later are found at intervals by polls that begin some seconds earlier, and by complete
//! ones (see `front`); deliveries with an expired lease are found by the expiry.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use uuid::Uuid;

use super::super::front::{MARGIN_MS, Pace, RECENT_MS, Recent};

/// An endpoint without work for this long loses its cursor.
const IDLE: Duration = Duration::from_mins(10);
/// Maximum number of endpoints with a cursor. Each of them is polled even without work.
const MAX_ENDPOINTS: usize = 256;
/// The same while a complete poll is slow, because it reads far more than the queues of these.
const MAX_ENDPOINTS_WHILE_SLOW: usize = 4096;
/// A complete poll that takes this long is slow.
const SLOW: Duration = Duration::from_millis(50);
/// Time between two checks for expired leases.
const EXPIRY_REST: Duration = Duration::from_secs(2);

/// The queue fronts of the busiest endpoints.
#[derive(Debug, Default)]
pub(in super::super) struct Cursors(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    by_endpoint: BTreeMap<Uuid, Moved>,
    pace: Pace,
    recent: Recent,
    /// All leases that ended before this time, by the database's clock, were taken over.
    expired_from: i64,
    expiry_at: Option<Instant>,
    /// Whether the latest complete poll was slow.
    is_slow: bool,
}

/// A cursor, and when it was last moved.
#[derive(Debug)]
struct Moved {
    cursor: Cursor,
    at: Instant,
}

/// The front of an endpoint's queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cursor {
    /// The earliest due time.
    pub(super) due_from: i64,
    /// The earliest expiry of a lease, by the database's clock.
    pub(super) leased_from: i64,
}

/// The queues that a poll reads: those of these endpoints from their cursors, those of all others
/// from the front.
#[derive(Clone, Debug, Default)]
pub(super) struct Look {
    pub(super) endpoints: Vec<Uuid>,
    pub(super) due_from: Vec<i64>,
    pub(super) leased_from: Vec<i64>,
    /// All other endpoints lie between these ids, which are excluded themselves.
    pub(super) after: Vec<Uuid>,
    pub(super) before: Vec<Uuid>,
}

/// The queues that a poll reads, as parts of a recursive statement that takes its five lists.
/// `waiting` goes from one endpoint to the next by the index of pending deliveries.
macro_rules! queues {
    ($after:literal, $before:literal, $endpoints:literal, $due_from:literal, $leased_from:literal) => {
        concat!(
            "
     waiting (endpoint_id, before) AS (
         SELECT (SELECT d.endpoint_id FROM deliveries d
                 WHERE d.status = 'PENDING' AND d.endpoint_id > g.after
                   AND d.endpoint_id < g.before
                 ORDER BY d.endpoint_id LIMIT 1), g.before
         FROM unnest(",
            $after,
            "::UUID[], ",
            $before,
            "::UUID[]) AS g (after, before)
         UNION ALL
         SELECT (SELECT d.endpoint_id FROM deliveries d
                 WHERE d.status = 'PENDING' AND d.endpoint_id > w.endpoint_id
                   AND d.endpoint_id < w.before
                 ORDER BY d.endpoint_id LIMIT 1), w.before
         FROM waiting w WHERE w.endpoint_id IS NOT NULL
     ),
     queues (endpoint_id, due_from, leased_from) AS (
         SELECT endpoint_id, 0::BIGINT, 0::BIGINT FROM waiting WHERE endpoint_id IS NOT NULL
         UNION ALL
         SELECT endpoint_id, due_from, leased_from
         FROM unnest(",
            $endpoints,
            "::UUID[], ",
            $due_from,
            "::BIGINT[], ",
            $leased_from,
            "::BIGINT[])
             AS known (endpoint_id, due_from, leased_from)
     )"
        )
    };
}
pub(super) use queues;

impl Cursors {
    /// The queues of the next poll.
    pub(super) fn look(&self) -> Look {
        self.lock().look(Instant::now())
    }

    /// The range of a poll that claims nothing; it is never complete.
    pub(super) fn look_without_claim(&self) -> Look {
        self.lock().usual(MARGIN_MS)
    }

    /// Makes the next poll complete: a delivery before a cursor may be due.
    pub(in super::super) fn look_everywhere(&self) {
        self.lock().pace = Pace::default();
    }

    /// The endpoints to check for expired leases, and the earliest end of a lease to check; `None` soon
    /// after another check.
    pub(super) fn expiry(&self) -> Option<(Vec<Uuid>, i64)> {
        self.lock().expiry(Instant::now())
    }

    /// Records deliveries with expired leases: where the queues of their endpoints begin now, and the
    /// earliest end of a lease for the next check.
    pub(super) fn note_expired(&self, due_from: &[(Uuid, i64)], expired_from: i64) {
        self.lock().note_expired(due_from, expired_from);
    }

    /// Records how long a poll took and what it found.
    pub(super) fn note(&self, look: &Look, took: Duration, found: &[(Uuid, Cursor)]) {
        self.lock().note(look, Instant::now(), took, found);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn look(&mut self, now: Instant) -> Look {
        let is_recent = self.recent.begin(now);
        if self.pace.begin(now) {
            Look {
                after: vec![Uuid::nil()],
                before: vec![Uuid::max()],
                ..Look::default()
            }
        } else {
            self.usual(if is_recent { RECENT_MS } else { MARGIN_MS })
        }
    }

    fn usual(&self, margin: i64) -> Look {
        let mut look = Look::default();
        look.after.push(Uuid::nil());
        for (endpoint, moved) in &self.by_endpoint {
            let due_from = moved.cursor.due_from.saturating_sub(margin);
            look.endpoints.push(*endpoint);
            look.due_from.push(due_from);
            look.leased_from.push(moved.cursor.leased_from);
            look.before.push(*endpoint);
            look.after.push(*endpoint);
        }
        look.before.push(Uuid::max());
        look
    }

    fn expiry(&mut self, now: Instant) -> Option<(Vec<Uuid>, i64)> {
        let is_due = self.expiry_at.is_none_or(|at| at <= now);
        if !is_due || self.by_endpoint.is_empty() {
            return None;
        }
        self.expiry_at = now.checked_add(EXPIRY_REST);
        Some((
            self.by_endpoint.keys().copied().collect(),
            self.expired_from,
        ))
    }

    fn note_expired(&mut self, due_from: &[(Uuid, i64)], expired_from: i64) {
        self.expired_from = expired_from;
        for (endpoint, due_from) in due_from {
            if let Some(moved) = self.by_endpoint.get_mut(endpoint) {
                moved.cursor.due_from = moved.cursor.due_from.min(*due_from);
            }
        }
    }

    fn note(&mut self, look: &Look, now: Instant, took: Duration, found: &[(Uuid, Cursor)]) {
        if look.is_complete() {
            self.by_endpoint
                .retain(|_, moved| now.duration_since(moved.at) < IDLE);
            self.pace.note(now, took);
            self.is_slow = took >= SLOW;
            if self.by_endpoint.len() > self.max_endpoints() {
                self.by_endpoint.clear();
            }
        }
        for (endpoint, cursor) in found {
            let has_room = self.by_endpoint.len() < self.max_endpoints();
            if has_room || self.by_endpoint.contains_key(endpoint) {
                let moved = Moved {
                    cursor: *cursor,
                    at: now,
                };
                self.by_endpoint.insert(*endpoint, moved);
            }
        }
    }

    const fn max_endpoints(&self) -> usize {
        if self.is_slow {
            MAX_ENDPOINTS_WHILE_SLOW
        } else {
            MAX_ENDPOINTS
        }
    }
}

impl Look {
    fn is_complete(&self) -> bool {
        self.endpoints.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;
    use uuid::Uuid;

    use super::{
        Cursor, EXPIRY_REST, IDLE, Look, MARGIN_MS, MAX_ENDPOINTS, MAX_ENDPOINTS_WHILE_SLOW,
        RECENT_MS, SLOW, State,
    };

    const TOOK: Duration = Duration::from_millis(100);
    const QUICK: Duration = Duration::from_millis(1);

    fn found(endpoint: u128, due_from: i64) -> (Uuid, Cursor) {
        let leased_from = 7;
        (
            Uuid::from_u128(endpoint),
            Cursor {
                due_from,
                leased_from,
            },
        )
    }

    fn gaps(look: &Look) -> Vec<(Uuid, Uuid)> {
        let ends = look.before.iter().copied();
        look.after.iter().copied().zip(ends).collect()
    }

    #[test]
    fn the_first_look_goes_over_everything() {
        let look = State::default().look(Instant::now());
        assert!(look.is_complete());
        assert_eq!(gaps(&look), [(Uuid::nil(), Uuid::max())]);
    }

    #[test]
    fn a_look_begins_where_the_one_before_found_something_and_leaves_no_gap() {
        let (mut state, now) = (State::default(), Instant::now());
        let complete = state.look(now);
        state.note(&complete, now, TOOK, &[found(5, 90_000), found(3, 80_000)]);
        let look = state.look(now + TOOK);
        let [three, five] = [3, 5].map(Uuid::from_u128);
        assert_eq!(look.endpoints, [three, five]);
        assert_eq!(look.due_from, [80_000 - MARGIN_MS, 90_000 - MARGIN_MS]);
        assert_eq!(look.leased_from, [7, 7]);
        let expected = [(Uuid::nil(), three), (three, five), (five, Uuid::max())];
        assert_eq!(gaps(&look), expected);
        state.note(&look, now + TOOK, TOOK, &[found(3, 81_000)]);
        assert_eq!(state.look(now + TOOK).due_from[0], 81_000 - MARGIN_MS);
    }

    #[test]
    fn complete_looks_take_little_of_the_time() {
        let (mut state, now) = (State::default(), Instant::now());
        let complete = state.look(now);
        state.note(&complete, now, TOOK, &[found(1, 90_000)]);
        assert!(!state.look(now + TOOK * 199).is_complete());
        assert!(state.look(now + TOOK * 200).is_complete());
        let complete = state.look(now + TOOK * 200);
        state.note(&complete, now + TOOK * 200, TOOK, &[]);
        let next = state.look(now + TOOK * 201);
        assert_eq!(next.due_from, [90_000 - MARGIN_MS], "kept while it is idle");
        state.note(&Look::default(), now + IDLE, TOOK, &[]);
        assert!(state.by_endpoint.is_empty(), "given up");
    }

    #[test]
    fn looks_for_what_came_late_begin_seconds_earlier() {
        let (mut state, now) = (State::default(), Instant::now());
        let complete = state.look(now);
        state.note(&complete, now, TOOK, &[found(1, 90_000)]);
        let later = now + Duration::from_secs(5);
        assert_eq!(state.look(later).due_from, [90_000 - RECENT_MS]);
        assert_eq!(state.look(later).due_from, [90_000 - MARGIN_MS]);
    }

    #[test]
    fn a_queue_begins_again_where_a_lease_ran_out() {
        let (mut state, now) = (State::default(), Instant::now());
        assert_eq!(state.expiry(now), None, "all looks go over everything");
        let complete = state.look(now);
        state.note(&complete, now, TOOK, &[found(1, 90_000)]);
        let endpoint = Uuid::from_u128(1);
        assert_eq!(state.expiry(now), Some((vec![endpoint], 0)));
        assert_eq!(state.expiry(now + TOOK), None, "it was asked just now");
        state.note_expired(&[(endpoint, 40_000)], 77);
        let next = state.look(now + TOOK);
        assert_eq!(next.due_from, [40_000 - MARGIN_MS]);
        let later = now + EXPIRY_REST;
        assert_eq!(state.expiry(later), Some((vec![endpoint], 77)));
    }

    #[test]
    fn so_many_endpoints_have_a_cursor_and_no_more() {
        let (mut state, now) = (State::default(), Instant::now());
        let complete = state.look(now);
        let all: Vec<_> = (1..=300).map(|it| found(it, 90_000)).collect();
        state.note(&complete, now, QUICK, &all);
        assert_eq!(state.look(now).endpoints.len(), MAX_ENDPOINTS);
        let next = state.look(now);
        state.note(&next, now, QUICK, &[found(1, 95_000)]);
        assert_eq!(state.look(now).due_from[0], 95_000 - MARGIN_MS);
    }

    #[test]
    fn more_endpoints_have_a_cursor_while_complete_polls_are_slow() {
        let (mut state, now) = (State::default(), Instant::now());
        let complete = state.look(now);
        let all: Vec<_> = (1..=5_000).map(|it| found(it, 90_000)).collect();
        state.note(&complete, now, SLOW, &all);
        let next = state.look(now);
        assert_eq!(next.endpoints.len(), MAX_ENDPOINTS_WHILE_SLOW);
        state.note(&complete, now, QUICK, &[found(1, 95_000)]);
        assert_eq!(state.look(now).endpoints, [Uuid::from_u128(1)]);
    }
}
