//! The store of handled events.

use core::convert::Infallible;
use core::future::{Future, ready};
use core::num::NonZeroUsize;
use std::collections::{HashSet, VecDeque};
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use preauth_core::value::EventId;

/// Number of events that a [`MemorySeen`] remembers by default.
const REMEMBERED_EVENTS: NonZeroUsize = NonZeroUsize::new(100_000).unwrap();

/// The ids of the events that a receiver has handled. Implement it over the receiver's database.
///
/// Keep an id for 35 days or longer: an event is repeated for 79.6 hours, and can be resent for thirty
/// days after that.
///
/// To handle an event *exactly* once, write its effect and its id in one transaction, with a unique
/// index on the id. `insert` then finds the id already there, which must not be an error.
pub trait SeenEvents: Send + Sync {
    /// Why the store could not be read or written.
    type Error;

    /// Whether the event was handled before.
    fn contains(&self, id: EventId) -> impl Future<Output = Result<bool, Self::Error>> + Send;

    /// Records the event as handled; an id that is already there is not an error.
    fn insert(&self, id: EventId) -> impl Future<Output = Result<(), Self::Error>> + Send;
}

/// A bounded store in memory, for tests and for effects that may be repeated after a restart.
pub struct MemorySeen {
    most: NonZeroUsize,
    ids: Mutex<Ids>,
}

#[derive(Default)]
struct Ids {
    known: HashSet<EventId>,
    in_order_of_arrival: VecDeque<EventId>,
}

impl MemorySeen {
    /// Remembers at most `most` events; when it is full, the event recorded first is dropped.
    #[must_use]
    pub fn with_capacity(most: NonZeroUsize) -> Self {
        Self {
            most,
            ids: Mutex::default(),
        }
    }

    fn ids(&self) -> MutexGuard<'_, Ids> {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remember(&self, id: EventId) {
        let mut ids = self.ids();
        if !ids.known.insert(id) {
            return;
        }
        ids.in_order_of_arrival.push_back(id);
        if ids.in_order_of_arrival.len() > self.most.get()
            && let Some(first) = ids.in_order_of_arrival.pop_front()
        {
            ids.known.remove(&first);
        }
    }
}

impl Default for MemorySeen {
    fn default() -> Self {
        Self::with_capacity(REMEMBERED_EVENTS)
    }
}

impl SeenEvents for MemorySeen {
    type Error = Infallible;

    fn contains(&self, id: EventId) -> impl Future<Output = Result<bool, Infallible>> + Send {
        ready(Ok(self.ids().known.contains(&id)))
    }

    fn insert(&self, id: EventId) -> impl Future<Output = Result<(), Infallible>> + Send {
        self.remember(id);
        ready(Ok(()))
    }
}

impl fmt::Debug for MemorySeen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemorySeen")
            .field("events", &self.ids().known.len())
            .field("most", &self.most)
            .finish_non_exhaustive()
    }
}
