//! The writes under way of all head offices together, and which are refused in an overload.
//!
//! Each request under way makes all others wait for the processors and the database. Beyond some number, further writes only
//! make all of them slow: they are refused before their key is looked up and their body read, which leaves that time to those
//! that are accepted. A burst is not an overload: at first as many are accepted as there are connections.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use preauth_core::value::CompanyId;
use thiserror::Error;
use tokio::time::Instant;

use super::in_progress::{Counts, eighth};

/// As many under way as may be, for this long, are an overload.
const OVERLOADED_AFTER: Duration = Duration::from_millis(100);

/// Counts the writes under way, of which there may be an eighth of the listener's connections in an overload.
#[derive(Debug)]
pub struct WritesUnderWay(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    max: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    of_each: Counts,
    all: usize,
    /// Since when there are as many as may be; until there are half of that.
    full_since: Option<Instant>,
    /// The number of those refused meanwhile.
    refused: u64,
}

/// A write under way; its drop ends it.
#[derive(Debug)]
pub(super) struct UnderWay {
    head_office: CompanyId,
    shared: Arc<Shared>,
}

/// The refusal of a write; nothing was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("as many writes are under way as may be")]
pub(super) struct Overloaded;

impl WritesUnderWay {
    /// For a listener that accepts this number of connections.
    #[must_use]
    pub fn new(max_connections: usize) -> Self {
        Self(Arc::new(Shared {
            max: eighth(max_connections),
            state: Mutex::default(),
        }))
    }

    /// Counts a write. In an overload it is refused if its head office has its share under way: the maximum is shared
    /// equally by all that have writes under way.
    pub(super) fn begin(&self, head_office: CompanyId) -> Result<UnderWay, Overloaded> {
        let Self(shared) = self;
        let (max, mut state) = (shared.max, shared.lock());
        if state.is_overload(max) && state.of_each.of(head_office) >= state.share(max) {
            state.refused = state.refused.saturating_add(1);
            let is_first = state.refused == 1;
            drop(state);
            if is_first {
                tracing::warn!(
                    target: "overload",
                    under_way = max,
                    "more writes come than are done; head offices that have their share of those under way get 503 for further ones \
                     (connections.max)"
                );
            }
            return Err(Overloaded);
        }
        state.all = state.all.saturating_add(1);
        state.of_each.add(head_office);
        if state.all >= max {
            state.full_since.get_or_insert_with(Instant::now);
        }
        drop(state);
        Ok(UnderWay {
            head_office,
            shared: Arc::clone(shared),
        })
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn is_overload(&self, max: usize) -> bool {
        let is_long = |since: Instant| since.elapsed() >= OVERLOADED_AFTER;
        self.all >= max && self.full_since.is_some_and(is_long)
    }

    fn share(&self, max: usize) -> usize {
        max.checked_div(self.of_each.head_offices())
            .unwrap_or(max)
            .max(1)
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        let Shared { max, .. } = *self.shared;
        let mut state = self.shared.lock();
        state.all = state.all.saturating_sub(1);
        state.of_each.remove(self.head_office);
        if state.all > max / 2 {
            return;
        }
        state.full_since = None;
        let refused = std::mem::take(&mut state.refused);
        drop(state);
        if refused > 0 {
            tracing::info!(target: "overload", refused, "all writes are accepted again");
        }
    }
}

#[cfg(test)]
mod tests {
    use preauth_core::value::CompanyId;
    use tokio::time::advance;
    use uuid::Uuid;

    use super::{OVERLOADED_AFTER, Overloaded, UnderWay, WritesUnderWay};

    const MAX: usize = 8;

    fn writes() -> WritesUnderWay {
        WritesUnderWay::new(MAX * 8)
    }

    fn head_office(number: u128) -> CompanyId {
        CompanyId::new(Uuid::from_u128(number))
    }

    fn begin(writes: &WritesUnderWay, number: u128, count: usize) -> Vec<UnderWay> {
        (0..count)
            .map(|_| writes.begin(head_office(number)).unwrap())
            .collect()
    }

    #[tokio::test(start_paused = true)]
    async fn a_burst_is_accepted_whatever_its_size() {
        let writes = writes();
        let burst = begin(&writes, 1, 100 * MAX);
        advance(OVERLOADED_AFTER).await;
        assert_eq!(writes.begin(head_office(1)).err(), Some(Overloaded));
        drop(burst);
        let next = begin(&writes, 1, 100 * MAX);
        assert_eq!(next.len(), 100 * MAX);
    }

    #[tokio::test(start_paused = true)]
    async fn in_an_overload_each_head_office_has_its_share() {
        let writes = writes();
        let mut flood = begin(&writes, 1, MAX);
        advance(OVERLOADED_AFTER).await;
        let quiet = begin(&writes, 2, 1);
        assert!(writes.begin(head_office(1)).is_err());
        let more = begin(&writes, 2, MAX / 2 - 1);
        assert!(writes.begin(head_office(2)).is_err());
        // Until half of the maximum is left.
        flood.truncate(1);
        assert_eq!(quiet.len() + more.len(), MAX / 2);
        assert!(writes.0.lock().full_since.is_some());
        flood.clear();
        assert_eq!(begin(&writes, 1, 2 * MAX).len(), 2 * MAX);
    }

    #[tokio::test(start_paused = true)]
    async fn a_head_office_always_may_have_one() {
        let writes = writes();
        let each = (1..).take(2 * MAX);
        let flood: Vec<_> = each.flat_map(|it| begin(&writes, it, 1)).collect();
        advance(OVERLOADED_AFTER).await;
        assert!(writes.begin(head_office(1)).is_err());
        let another = begin(&writes, 1_000, 1);
        assert_eq!(flood.len() + another.len(), 2 * MAX + 1);
    }

    #[test]
    fn nothing_is_left_of_writes_that_ended() {
        let writes = writes();
        drop([begin(&writes, 1, 2), begin(&writes, 2, 1)]);
        let state = writes.0.lock();
        assert_eq!((state.of_each.head_offices(), state.all), (0, 0));
    }
}
