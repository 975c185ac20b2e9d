//! Places for work that waits until rows which others have locked are free: bounded in all, and per tenant.
//!
//! What the work waits for is not known. So when the places are taken, the work that has waited longest gives its
//! own to what comes: otherwise all that needs one held row would fill them, and refuse the rest.

use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use thiserror::Error;
use tokio::sync::oneshot;

use crate::fair::Tenant;
use crate::store::error::WriteError;

/// The taken places.
#[derive(Debug)]
pub(super) struct Places {
    max: usize,
    /// Leaves room for others.
    max_per_tenant: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// By tenant, in the order in which they were taken. A sender that is dropped ends the wait.
    taken: HashMap<Tenant, BTreeMap<u64, oneshot::Sender<Infallible>>>,
    last: u64,
}

/// A place, given back on drop.
#[derive(Debug)]
pub(super) struct Place {
    places: Arc<Places>,
    tenant: Tenant,
    number: u64,
    lost: oneshot::Receiver<Infallible>,
}

/// The place was given to later work; nothing was written.
#[derive(Clone, Copy, Debug, Error)]
#[error("too many writes wait for what others hold locked")]
pub(super) struct Displaced;

impl Places {
    pub(super) fn new(max: usize, max_per_tenant: usize) -> Arc<Self> {
        Arc::new(Self {
            max,
            max_per_tenant,
            state: Mutex::default(),
        })
    }

    /// Takes a place for `tenant`: if it has its maximum, the oldest of its own; if all are taken, the oldest
    /// of the tenant with most.
    pub(super) fn enter(self: &Arc<Self>, tenant: Tenant) -> Place {
        let (ends, lost) = oneshot::channel();
        let mut state = self.lock();
        if state.count(tenant) >= self.max_per_tenant {
            state.end_oldest(tenant);
        } else if state.all() >= self.max
            && let Some(most) = state.with_most()
        {
            state.end_oldest(most);
        }
        state.last = state.last.saturating_add(1);
        let number = state.last;
        state.taken.entry(tenant).or_default().insert(number, ends);
        drop(state);
        Place {
            places: Arc::clone(self),
            tenant,
            number,
            lost,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// Waits for `pause`, unless the place is lost before.
    pub(super) async fn hold<F: Future>(&mut self, pause: F) -> Result<F::Output, Displaced> {
        tokio::select! {
            biased;
            _ = &mut self.lost => Err(Displaced),
            ended = pause => Ok(ended),
        }
    }
}

impl From<Displaced> for WriteError {
    fn from(displaced: Displaced) -> Self {
        Self::Busy(Box::new(displaced))
    }
}

impl State {
    fn count(&self, tenant: Tenant) -> usize {
        self.taken.get(&tenant).map_or(0, BTreeMap::len)
    }

    fn all(&self) -> usize {
        let counts = self.taken.values().map(BTreeMap::len);
        counts.fold(0, usize::saturating_add)
    }

    fn with_most(&self) -> Option<Tenant> {
        let most = self.taken.iter().max_by_key(|(_, places)| places.len());
        most.map(|(tenant, _)| *tenant)
    }

    fn end_oldest(&mut self, tenant: Tenant) {
        let oldest = self.taken.get(&tenant).and_then(|it| it.keys().next());
        if let Some(oldest) = oldest.copied() {
            self.give_back(tenant, oldest);
        }
    }

    fn give_back(&mut self, tenant: Tenant, number: u64) {
        if let Some(places) = self.taken.get_mut(&tenant) {
            places.remove(&number);
            if places.is_empty() {
                self.taken.remove(&tenant);
            }
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.lock().give_back(self.tenant, self.number);
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use futures_util::FutureExt;
    use preauth_core::value::CompanyId;
    use uuid::Uuid;

    use super::{Place, Places};
    use crate::fair::Tenant;

    fn head_office(number: u128) -> Tenant {
        Tenant::HeadOffice(CompanyId::new(Uuid::from_u128(number)))
    }

    fn are_lost(places: &mut [Place]) -> Vec<bool> {
        let lost = |it: &mut Place| it.hold(pending::<()>()).now_or_never().is_some();
        places.iter_mut().map(lost).collect()
    }

    #[test]
    fn the_longest_wait_gives_its_place_to_later_work() {
        let places = Places::new(8, 4);
        let other = places.enter(head_office(1));
        let mut taken: Vec<_> = (0..5).map(|_| places.enter(Tenant::Platform)).collect();
        assert_eq!(are_lost(&mut taken), [true, false, false, false, false]);
        assert_eq!(are_lost(&mut [other]), [false]);
        // The one that lost its place gives none back.
        taken.remove(0);
        assert_eq!(places.lock().all(), 4);
        drop(taken);
        assert!(places.lock().taken.is_empty());
    }

    #[test]
    fn when_all_are_taken_the_tenant_with_most_loses_one() {
        let places = Places::new(8, 4);
        let mut flood: Vec<_> = (0..4).map(|_| places.enter(head_office(0))).collect();
        let mut others: Vec<_> = (1..6).map(|it| places.enter(head_office(it))).collect();
        assert_eq!(are_lost(&mut flood), [true, false, false, false]);
        assert_eq!(are_lost(&mut others), [false; 5]);
        assert_eq!(places.lock().all(), 8);
    }
}
