//! Where a commit waits for what others hold locked, beside the lane of all others.
//!
//! Nothing is locked by waiting, and no connection stands still for it: the commit is tried again
//! after a pause, together with the others that wait.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use preauth_core::port::Commit;
use preauth_core::value::CompanyId;
use thiserror::Error;

use super::super::error::{Fault, WriteError};
use super::super::grouping::{Grouped, Limits};
use super::super::held::Turns;
use super::{Turn, Writer};

/// Commits that may wait for locks; the next one is refused at once.
const MAX_WAITING: usize = 1024;
/// Of one head office: others find room.
const MAX_WAITING_PER_HEAD_OFFICE: usize = 512;

/// Commits tried again together.
const LIMITS: Limits = Limits {
    queue: MAX_WAITING,
    group: 256,
    groups: 1,
};

/// The lane of commits that wait for locks.
pub(in super::super) struct Aside {
    lane: Grouped<Writer>,
    rooms: Arc<Rooms>,
}

/// How many wait, by head office.
#[derive(Debug, Default)]
struct Rooms(Mutex<HashMap<CompanyId, usize>>);

/// A commit's place among those that wait.
struct Place {
    rooms: Arc<Rooms>,
    head_office: CompanyId,
}

/// Nothing was written.
#[derive(Clone, Copy, Debug, Error)]
#[error("too many writes wait for what others hold locked")]
struct Crowded;

impl Aside {
    /// Has commits tried again by `writer`.
    pub(in super::super) fn spawn(writer: Writer) -> Self {
        Self {
            lane: Grouped::spawn(writer, LIMITS),
            rooms: Arc::default(),
        }
    }

    /// Tries `commit` again until nothing that it needs is locked by others. One that waited in
    /// vain was not written, and is not tried any more.
    pub(in super::super) async fn write(&self, mut commit: Box<Commit>) -> Result<(), WriteError> {
        let place = Rooms::enter(&self.rooms, commit.write.head_office());
        let _place = place.ok_or(WriteError::Busy(Box::new(Crowded)))?;
        let mut turns = Turns::begin();
        while turns.next().await {
            match self.lane.ask(*commit).await? {
                Turn::Ended(outcome) => return outcome,
                Turn::Locked(left) => commit = left,
            }
        }
        Err(WriteError::Busy(Box::new(Fault::StillLocked)))
    }

    /// Takes no more commits; those that wait are not written.
    pub(in super::super) async fn close(&self) {
        self.lane.close().await;
    }
}

impl Rooms {
    /// A place, if there is one; it is free again when it is dropped.
    fn enter(rooms: &Arc<Self>, head_office: CompanyId) -> Option<Place> {
        let mut waiting = rooms.lock();
        let of_this = waiting.get(&head_office).copied().unwrap_or_default();
        let all = waiting.values().copied().fold(0, usize::saturating_add);
        if all >= MAX_WAITING || of_this >= MAX_WAITING_PER_HEAD_OFFICE {
            return None;
        }
        waiting.insert(head_office, of_this.saturating_add(1));
        drop(waiting);
        Some(Place {
            rooms: Arc::clone(rooms),
            head_office,
        })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<CompanyId, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut waiting = self.rooms.lock();
        let left = waiting
            .get(&self.head_office)
            .map_or(0, |number| number.saturating_sub(1));
        if left == 0 {
            waiting.remove(&self.head_office);
        } else {
            waiting.insert(self.head_office, left);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use preauth_core::value::CompanyId;
    use uuid::Uuid;

    use super::{MAX_WAITING, MAX_WAITING_PER_HEAD_OFFICE, Rooms};

    fn head_office(number: u128) -> CompanyId {
        CompanyId::new(Uuid::from_u128(number))
    }

    #[test]
    fn one_head_office_leaves_room_for_others() {
        let rooms = Arc::new(Rooms::default());
        let places: Vec<_> = std::iter::from_fn(|| Rooms::enter(&rooms, head_office(1))).collect();
        assert_eq!(places.len(), MAX_WAITING_PER_HEAD_OFFICE);
        let other = Rooms::enter(&rooms, head_office(2));
        assert!(other.is_some());
        drop(places);
        assert_eq!(rooms.lock().len(), 1);
        drop(other);
        assert!(rooms.lock().is_empty());
    }

    #[test]
    fn what_waits_is_bounded_in_all() {
        let rooms = Arc::new(Rooms::default());
        let mut places = Vec::new();
        for number in 0..10 {
            places.extend(std::iter::from_fn(|| {
                Rooms::enter(&rooms, head_office(number))
            }));
        }
        assert_eq!(places.len(), MAX_WAITING);
    }
}
