//! Requests that wait for the next event of their head office.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use preauth_core::value::CompanyId;
use tokio::sync::Notify;
use tokio::sync::futures::OwnedNotified;

/// Waiting requests may occupy this fraction of a listener's connections: a half.
const FRACTION: usize = 2;

/// All waiting requests of a listener; clones share them. One notification of a head office wakes all that
/// wait for its events.
#[derive(Clone)]
pub struct Waiters {
    max: usize,
    rooms: Arc<Mutex<Rooms>>,
    entered: Arc<Notify>,
}

#[derive(Default)]
struct Rooms {
    waiting: usize,
    of: HashMap<CompanyId, Room>,
}

/// Those who wait for one head office's events.
struct Room {
    waiting: usize,
    notify: Arc<Notify>,
}

/// A request that waits; its drop gives the place back.
pub struct Waiter {
    head_office: CompanyId,
    notify: Arc<Notify>,
    rooms: Arc<Mutex<Rooms>>,
}

impl Waiters {
    /// For a listener that accepts this number of connections.
    #[must_use]
    pub fn new(max_connections: usize) -> Self {
        let max = max_connections.checked_div(FRACTION);
        Self {
            max: max.unwrap_or_default().max(1),
            rooms: Arc::default(),
            entered: Arc::default(),
        }
    }

    /// Begins to wait for the events of a head office; `None` when as many requests wait as may.
    #[must_use]
    pub fn enter(&self, head_office: CompanyId) -> Option<Waiter> {
        let mut rooms = lock(&self.rooms);
        if rooms.waiting >= self.max {
            return None;
        }
        rooms.waiting = rooms.waiting.saturating_add(1);
        let room = rooms.of.entry(head_office).or_insert_with(|| Room {
            waiting: 0,
            notify: Arc::default(),
        });
        room.waiting = room.waiting.saturating_add(1);
        self.entered.notify_one();
        Some(Waiter {
            head_office,
            notify: Arc::clone(&room.notify),
            rooms: Arc::clone(&self.rooms),
        })
    }

    /// Wakes all that wait for the events of these head offices.
    pub fn wake(&self, head_offices: &[CompanyId]) {
        let rooms = lock(&self.rooms);
        for head_office in head_offices {
            if let Some(room) = rooms.of.get(head_office) {
                room.notify.notify_waiters();
            }
        }
    }

    /// Notified when a request begins to wait.
    #[must_use]
    pub fn entered(&self) -> &Notify {
        &self.entered
    }

    /// The number of waiting requests.
    #[must_use]
    pub fn waiting(&self) -> usize {
        lock(&self.rooms).waiting
    }
}

impl Waiter {
    /// Completes at a notification after this call, whenever it is polled first.
    pub fn notified(&self) -> OwnedNotified {
        Arc::clone(&self.notify).notified_owned()
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let mut rooms = lock(&self.rooms);
        rooms.waiting = rooms.waiting.saturating_sub(1);
        if let Some(room) = rooms.of.get_mut(&self.head_office) {
            room.waiting = room.waiting.saturating_sub(1);
            if room.waiting == 0 {
                rooms.of.remove(&self.head_office);
            }
        }
    }
}

fn lock(rooms: &Mutex<Rooms>) -> MutexGuard<'_, Rooms> {
    rooms.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for Waiters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waiters")
            .field("max", &self.max)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Waiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waiter").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn office(n: u128) -> CompanyId {
        CompanyId::new(Uuid::from_u128(n))
    }

    #[test]
    fn half_of_the_connections_may_wait_and_a_place_comes_back() {
        let waiters = Waiters::new(4);
        let first = waiters.enter(office(1)).unwrap();
        let second = waiters.enter(office(2)).unwrap();
        assert!(waiters.enter(office(1)).is_none());
        drop(first);
        assert_eq!(waiters.waiting(), 1);
        assert!(waiters.enter(office(3)).is_some());
        drop(second);
        assert_eq!(waiters.waiting(), 0);
        assert!(lock(&waiters.rooms).of.is_empty());
    }

    #[tokio::test]
    async fn a_notification_wakes_all_of_its_head_office_and_nobody_else() {
        let waiters = Waiters::new(100);
        let of_one: Vec<_> = (0..3).filter_map(|_| waiters.enter(office(1))).collect();
        let other = waiters.enter(office(2)).unwrap();
        // Before they are polled.
        let notified: Vec<_> = of_one.iter().map(Waiter::notified).collect();
        let untouched = other.notified();
        waiters.wake(&[office(1), office(9)]);
        for woken in notified {
            woken.await;
        }
        let poll = futures_util::poll!(std::pin::pin!(untouched));
        assert!(poll.is_pending());
    }
}
