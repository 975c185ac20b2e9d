//! Counts the attempts in progress: all, the slow ones among them, and those to each endpoint.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use preauth_core::value::EndpointId;
use tokio::sync::Notify;
use tokio::time::Instant;

/// How long the end of an attempt shows that its endpoint answers: one that takes longer is slow.
const ANSWER_COUNTS: Duration = Duration::from_secs(1);
/// Maximum number of answering endpoints that one claim knows.
const MAX_ANSWERING: usize = 64;

/// Counts attempts; clones share the counts.
#[derive(Clone, Debug, Default)]
pub(super) struct Slots(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    all: AtomicU32,
    slow: AtomicU32,
    /// Endpoints whose attempts turned slow and that are not recorded as slow yet.
    turned: Mutex<BTreeSet<EndpointId>>,
    /// Notified when an attempt turned slow.
    turns: Notify,
    by_endpoint: Mutex<HashMap<EndpointId, Busy>>,
    /// Notified when an endpoint with a backlog has room.
    wake: Arc<Notify>,
    /// Notified when an attempt has ended, leased by a claim or handed over by a commit.
    ends: Notify,
}

/// An endpoint with attempts in progress or a backlog.
#[derive(Clone, Copy, Debug, Default)]
struct Busy {
    attempts: u32,
    /// When an attempt began while no other was in progress.
    resumed_at: Option<Instant>,
    /// When an attempt ended that was not slow.
    answered_at: Option<Instant>,
    /// Whether deliveries wait for a search, because its limit holds them back or because a commit found
    /// no room: these come before new ones.
    has_backlog: bool,
}

/// An attempt in progress; dropping the slot ends it.
#[derive(Debug)]
pub(super) struct Slot {
    counts: Arc<Counts>,
    endpoint: EndpointId,
    is_slow: bool,
}

impl Slots {
    pub(super) fn new(wake: Arc<Notify>) -> Self {
        Self(Arc::new(Counts {
            wake,
            ..Counts::default()
        }))
    }

    /// Takes a slot, which is slow from the beginning if its endpoint is.
    pub(super) fn take(&self, endpoint: EndpointId, is_slow: bool) -> Slot {
        self.0.busy().entry(endpoint).or_default().begin();
        self.slot(endpoint, is_slow)
    }

    /// Takes a slot for a delivery that a commit may hand over. `None` if the endpoint has `per_endpoint`
    /// attempts already, has a backlog, has turned slow, or is `stuck_after` that time (see
    /// [`Busy::is_stuck`]). The delivery is then left to a search, as are those of later commits.
    pub(super) fn take_for_commit(
        &self,
        endpoint: EndpointId,
        per_endpoint: u32,
        stuck_after: Option<Duration>,
    ) -> Option<Slot> {
        let has_turned = self.0.lock().contains(&endpoint);
        let by_endpoint = &mut *self.0.busy();
        let busy = by_endpoint.entry(endpoint).or_default();
        let is_stuck = stuck_after.is_some_and(|time| busy.is_stuck(time));
        busy.has_backlog |= has_turned || is_stuck || busy.attempts >= per_endpoint;
        if busy.has_backlog {
            return None;
        }
        busy.begin();
        Some(self.slot(endpoint, false))
    }

    /// Records that a delivery to the endpoint is left to a search: later ones must not pass it.
    pub(super) fn leave_to_search(&self, endpoint: EndpointId) {
        self.0.busy().entry(endpoint).or_default().has_backlog = true;
    }

    /// Records after a claim which endpoints have a backlog. Attempts of other processes may be the
    /// reason for it. A claim that `is_cut` may have left out any of those that had one before.
    pub(super) fn note_backlogs(&self, full: Vec<EndpointId>, is_cut: bool) {
        let by_endpoint = &mut *self.0.busy();
        by_endpoint.retain(|_, busy| {
            busy.has_backlog &= is_cut;
            busy.has_backlog || busy.attempts > 0
        });
        for endpoint in full {
            by_endpoint.entry(endpoint).or_default().has_backlog = true;
        }
    }

    /// Some of the endpoints with a backlog whose attempts end soon.
    pub(super) fn answering(&self) -> Vec<EndpointId> {
        let by_endpoint = self.0.busy();
        let answering = by_endpoint
            .iter()
            .filter(|(_, busy)| busy.has_backlog && busy.has_answered());
        let ids = answering.map(|(endpoint, _)| *endpoint);
        ids.take(MAX_ANSWERING).collect()
    }

    pub(super) fn in_use(&self) -> u32 {
        self.0.all.load(Ordering::Relaxed)
    }

    pub(super) fn in_slow_use(&self) -> u32 {
        self.0.slow.load(Ordering::Relaxed)
    }

    /// Waits until an attempt turns slow: its quick slot is then free.
    pub(super) async fn turned(&self) {
        self.0.turns.notified().await;
    }

    /// Waits until an attempt ends.
    pub(super) async fn ended(&self) {
        self.0.ends.notified().await;
    }

    /// The endpoints whose attempts have turned slow since the last call.
    pub(super) fn take_turned(&self) -> Vec<EndpointId> {
        std::mem::take(&mut *self.0.lock()).into_iter().collect()
    }

    /// Takes back endpoints that could not be recorded as slow.
    pub(super) fn put_back(&self, endpoints: Vec<EndpointId>) {
        self.0.lock().extend(endpoints);
    }

    fn slot(&self, endpoint: EndpointId, is_slow: bool) -> Slot {
        self.0.all.fetch_add(1, Ordering::Relaxed);
        if is_slow {
            self.0.slow.fetch_add(1, Ordering::Relaxed);
        }
        Slot {
            counts: Arc::clone(&self.0),
            endpoint,
            is_slow,
        }
    }
}

impl Counts {
    fn busy(&self) -> MutexGuard<'_, HashMap<EndpointId, Busy>> {
        self.by_endpoint
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<EndpointId>> {
        self.turned.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Busy {
    fn begin(&mut self) {
        if self.attempts == 0 {
            self.resumed_at = Some(Instant::now());
        }
        self.attempts = self.attempts.saturating_add(1);
    }

    fn end(&mut self) {
        self.attempts = self.attempts.saturating_sub(1);
    }

    /// Whether an attempt to it has ended recently, without having been slow.
    fn has_answered(&self) -> bool {
        self.answered_at
            .is_some_and(|at| at.elapsed() <= ANSWER_COUNTS)
    }

    /// Whether attempts to it are in progress, none of them began as the only one within that time, and
    /// none has ended recently.
    fn is_stuck(&self, after: Duration) -> bool {
        let has_resumed = self.resumed_at.is_some_and(|at| at.elapsed() <= after);
        self.attempts > 0 && !has_resumed && !self.has_answered()
    }
}

impl Slot {
    /// Records that the receiver has answered, or failed.
    pub(super) fn note_end(&self) {
        if !self.is_slow
            && let Some(busy) = self.counts.busy().get_mut(&self.endpoint)
        {
            busy.answered_at = Some(Instant::now());
        }
    }

    /// Counts the attempt as slow from now on.
    pub(super) fn turn_slow(&mut self) {
        if !self.is_slow {
            self.is_slow = true;
            self.counts.slow.fetch_add(1, Ordering::Relaxed);
            self.counts.lock().insert(self.endpoint);
            self.counts.turns.notify_one();
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.counts.all.fetch_sub(1, Ordering::Relaxed);
        if self.is_slow {
            self.counts.slow.fetch_sub(1, Ordering::Relaxed);
        }
        self.counts.ends.notify_one();
        let mut by_endpoint = self.counts.busy();
        if let Some(busy) = by_endpoint.get_mut(&self.endpoint) {
            busy.end();
            if busy.has_backlog {
                self.counts.wake.notify_one();
            } else if busy.attempts == 0 {
                by_endpoint.remove(&self.endpoint);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use preauth_core::value::EndpointId;
    use uuid::Uuid;

    use super::{Slot, Slots};

    fn endpoint() -> EndpointId {
        EndpointId::new(Uuid::from_u128(1))
    }

    #[test]
    fn every_slot_is_given_back_as_what_it_was_at_the_end() {
        let slots = Slots::default();
        let take = |is_slow| slots.take(endpoint(), is_slow);
        let (quick, slow, mut turning) = (take(false), take(true), take(false));
        assert_eq!((slots.in_use(), slots.in_slow_use()), (3, 1));
        assert_eq!(slots.take_turned(), []);
        turning.turn_slow();
        turning.turn_slow();
        assert_eq!((slots.in_use(), slots.in_slow_use()), (3, 2));
        assert_eq!(slots.take_turned(), [endpoint()]);
        assert_eq!(slots.take_turned(), []);
        drop(turning);
        drop(quick);
        assert_eq!((slots.in_use(), slots.in_slow_use()), (1, 1));
        drop(slow);
        assert_eq!((slots.in_use(), slots.in_slow_use()), (0, 0));
    }

    const STUCK_AFTER: Duration = Duration::from_millis(100);

    fn take(slots: &Slots, per_endpoint: u32) -> Option<Slot> {
        slots.take_for_commit(endpoint(), per_endpoint, Some(STUCK_AFTER))
    }

    /// A commit is refused, and then the reason for it ends: later commits are refused, too, until a
    /// search has found what was left to it.
    fn none_is_passed(slots: &Slots, per_endpoint: u32, reason_ends: impl FnOnce()) {
        assert!(take(slots, per_endpoint).is_none(), "for a reason");
        reason_ends();
        let passes = take(slots, per_endpoint).is_some();
        assert!(!passes, "what was refused still waits");
        slots.note_backlogs(Vec::new(), true);
        let passes = take(slots, per_endpoint).is_some();
        assert!(!passes, "a search that was cut short may have left it out");
        slots.note_backlogs(Vec::new(), false);
        assert!(take(slots, per_endpoint).is_some(), "nothing waits");
    }

    #[test]
    fn what_was_refused_at_the_limit_of_its_endpoint_is_not_passed() {
        let slots = Slots::default();
        let slot = take(&slots, 1);
        none_is_passed(&slots, 1, || drop(slot));
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_refused_while_its_endpoint_was_stuck_is_not_passed() {
        let slots = Slots::default();
        let slot = take(&slots, 9).unwrap();
        tokio::time::advance(STUCK_AFTER * 2).await;
        none_is_passed(&slots, 9, || slot.note_end());
    }

    #[test]
    fn what_was_refused_because_its_endpoint_turned_slow_is_not_passed() {
        let slots = Slots::default();
        let mut slot = take(&slots, 9).unwrap();
        slot.turn_slow();
        none_is_passed(&slots, 9, || {
            drop(slot);
            assert_eq!(slots.take_turned(), [endpoint()]);
        });
    }
}
