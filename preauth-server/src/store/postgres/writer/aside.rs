//! Retries commits that wait for locks of others, apart from the lane of all other commits.
//!
//! Waiting holds no lock and no connection: the commit is retried after a pause, together with the
//! others that wait.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use preauth_core::port::Commit;
use preauth_core::value::CompanyId;
use thiserror::Error;

use super::super::grouping::{Grouped, Limits};
use super::super::held::Turns;
use super::{Turn, Writer};
use crate::store::error::{Fault, WriteError};

/// Maximum number of commits that wait for locks; further ones are refused immediately.
const MAX_WAITING: usize = 1024;
/// The maximum per head office, which leaves room for others.
const MAX_WAITING_PER_HEAD_OFFICE: usize = 512;

/// The commits that are retried together.
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

/// The number of waiting commits, by head office.
#[derive(Debug, Default)]
struct Rooms(Mutex<HashMap<CompanyId, usize>>);

/// The place of a waiting commit.
struct Place {
    rooms: Arc<Rooms>,
    head_office: CompanyId,
}

/// There is no place; nothing was written.
#[derive(Clone, Copy, Debug, Error)]
#[error("too many writes wait for what others hold locked")]
struct Crowded;

impl Aside {
    /// Starts the lane, in which `writer` retries commits.
    pub(in super::super) fn spawn(writer: Writer) -> Self {
        Self {
            lane: Grouped::spawn(writer, LIMITS),
            rooms: Arc::default(),
        }
    }

    /// Retries `commit` until no needed row is locked by others. One whose time is over was not
    /// written, and is not retried.
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

    /// Accepts no more commits; waiting ones are not written.
    pub(in super::super) async fn close(&self) {
        self.lane.close().await;
    }
}

impl Rooms {
    /// A place, if there is one; dropping it frees it.
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
