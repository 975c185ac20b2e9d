//! Handles each event once.

use std::collections::HashSet;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use preauth_core::value::EventId;

use super::SeenEvents;

/// Handles each event once, however often it arrives.
///
/// An event counts as handled when its work has succeeded. Work that fails, panics or is dropped
/// half-way (most frameworks drop it when the client disconnects) runs again at the event's next
/// arrival. So does work that succeeded if the process dies before the id is stored. For a stronger
/// guarantee, write effect and id in one transaction ([`SeenEvents`]).
///
/// Two deliveries of an event at the same time do not both run the work: the second returns at once.
/// This holds within one `Once`, so share it between requests; between processes the store's unique
/// index decides.
pub struct Once<S> {
    seen: S,
    under_way: Mutex<HashSet<EventId>>,
}

/// The outcome of one delivery of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "an event that is under way elsewhere must not be confirmed"]
pub enum Handled<T> {
    /// It was handled now, with this outcome. Answer 2xx.
    Now(T),
    /// It was handled before; nothing was done. Answer 2xx.
    Before,
    /// An earlier delivery of it is still being handled, and may yet fail. Answer 503: the sender
    /// repeats the event.
    UnderWay,
}

/// Why an event was not handled, or not recorded as handled. Answer 500: the sender repeats the event.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum OnceError<W, S> {
    /// The work failed.
    #[error("the event could not be handled; answer 500, and it comes again")]
    Work(#[source] W),
    /// The store could not be read before the work, or not written after it.
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
    /// Handles each event once, by the ids stored in `seen`.
    #[must_use]
    pub fn new(seen: S) -> Self {
        Self {
            seen,
            under_way: Mutex::default(),
        }
    }

    /// Runs `work` unless the event was handled before, or is being handled now.
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

/// Marks an event as being handled. Its drop removes the mark, whether the work succeeded or not.
struct UnderWay<'o> {
    ids: &'o Mutex<HashSet<EventId>>,
    id: EventId,
}

impl<'o> UnderWay<'o> {
    fn begin(ids: &'o Mutex<HashSet<EventId>>, id: EventId) -> Option<Self> {
        // Build the guard only after a successful insert: its drop removes the entry, which would be that
        // of the other delivery.
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
