//! Each event handled once.

use std::collections::HashSet;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use preauth_core::value::EventId;

use super::SeenEvents;

/// Lets an event be handled once, however often it arrives.
///
/// An event counts as handled when its work has ended well. Work that fails, panics or is dropped
/// half-way (a client that hangs up drops it, in most frameworks) is done again at the event's next
/// arrival; so is work that ended well when the process dies before it is remembered. Who needs more
/// writes effect and id in one transaction ([`SeenEvents`]).
///
/// Two arrivals at the same time do not both work: the second returns at once. This holds within
/// one `Once`, so share it between requests; between processes the store's unique index decides.
pub struct Once<S> {
    seen: S,
    under_way: Mutex<HashSet<EventId>>,
}

/// What became of an event's arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "an event that is under way elsewhere must not be confirmed"]
pub enum Handled<T> {
    /// It was handled now, with this outcome. Answer 2xx.
    Now(T),
    /// It had been handled before; nothing was done. Answer 2xx.
    Before,
    /// An arrival before this one is still being worked on, and may yet fail. Answer 503: the sender
    /// comes again.
    UnderWay,
}

/// Why an event was not handled, or not remembered. Answer 500: the sender comes again.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum OnceError<W, S> {
    /// The work failed.
    #[error("the event could not be handled; answer 500, and it comes again")]
    Work(#[source] W),
    /// The store could not be asked before the work, or could not remember it afterwards.
    #[error(
        "the store of handled events failed: it could not be read before the work, or not written after it"
    )]
    Seen(#[source] S),
}

impl<W: fmt::Debug, S: fmt::Debug> fmt::Debug for OnceError<W, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Work(cause) => write!(f, "{self}: {cause:?}"),
            Self::Seen(cause) => write!(f, "{self}: {cause:?}"),
        }
    }
}

impl<S: SeenEvents> Once<S> {
    /// Handles each event once, by what `seen` remembers.
    #[must_use]
    pub fn new(seen: S) -> Self {
        Self {
            seen,
            under_way: Mutex::default(),
        }
    }

    /// Does `work` unless the event was handled before, or is being handled now.
    pub async fn handle<T, E>(
        &self,
        id: EventId,
        work: impl AsyncFnOnce() -> Result<T, E>,
    ) -> Result<Handled<T>, OnceError<E, S::Error>> {
        let Some(_until_the_end) = UnderWay::begin(&self.under_way, id) else {
            return Ok(Handled::UnderWay);
        };
        if self.seen.contains(id).await.map_err(OnceError::Seen)? {
            return Ok(Handled::Before);
        }
        let outcome = work().await.map_err(OnceError::Work)?;
        self.seen.insert(id).await.map_err(OnceError::Seen)?;
        Ok(Handled::Now(outcome))
    }
}

/// Ends when it is dropped, whatever became of the work.
struct UnderWay<'o> {
    ids: &'o Mutex<HashSet<EventId>>,
    id: EventId,
}

impl<'o> UnderWay<'o> {
    fn begin(ids: &'o Mutex<HashSet<EventId>>, id: EventId) -> Option<Self> {
        // Made only if the id is new: one that is made in vain would end the other when dropped.
        let is_new = locked(ids).insert(id);
        is_new.then(|| Self { ids, id })
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        locked(self.ids).remove(&self.id);
    }
}

fn locked(ids: &Mutex<HashSet<EventId>>) -> MutexGuard<'_, HashSet<EventId>> {
    ids.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<S: fmt::Debug> fmt::Debug for Once<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Once")
            .field("seen", &self.seen)
            .finish_non_exhaustive()
    }
}
