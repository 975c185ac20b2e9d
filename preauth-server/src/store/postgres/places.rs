//! Places for work that waits until rows which others have locked are free: bounded in all, and per tenant.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use thiserror::Error;

use crate::fair::Tenant;

/// The taken places, by tenant.
#[derive(Debug)]
pub(super) struct Places {
    max: usize,
    /// Leaves room for others.
    max_per_tenant: usize,
    taken: Mutex<HashMap<Tenant, usize>>,
}

/// A place, given back on drop.
#[derive(Debug)]
pub(super) struct Place {
    places: Arc<Places>,
    tenant: Tenant,
}

/// There is no place; nothing was written.
#[derive(Clone, Copy, Debug, Error)]
#[error("too many writes wait for what others hold locked")]
pub(super) struct NoPlace;

impl Places {
    pub(super) fn new(max: usize, max_per_tenant: usize) -> Arc<Self> {
        Arc::new(Self {
            max,
            max_per_tenant,
            taken: Mutex::default(),
        })
    }

    /// Takes a place for `tenant`, if there is one.
    pub(super) fn enter(self: &Arc<Self>, tenant: Tenant) -> Result<Place, NoPlace> {
        let mut taken = self.lock();
        let of_this = taken.get(&tenant).copied().unwrap_or_default();
        let all = taken.values().copied().fold(0, usize::saturating_add);
        if all >= self.max || of_this >= self.max_per_tenant {
            return Err(NoPlace);
        }
        taken.insert(tenant, of_this.saturating_add(1));
        drop(taken);
        Ok(Place {
            places: Arc::clone(self),
            tenant,
        })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Tenant, usize>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.lock();
        let left = taken
            .get(&self.tenant)
            .map_or(0, |number| number.saturating_sub(1));
        if left == 0 {
            taken.remove(&self.tenant);
        } else {
            taken.insert(self.tenant, left);
        }
    }
}

#[cfg(test)]
mod tests {
    use preauth_core::value::CompanyId;
    use uuid::Uuid;

    use super::{Place, Places};
    use crate::fair::Tenant;

    fn head_office(number: u128) -> Tenant {
        Tenant::HeadOffice(CompanyId::new(Uuid::from_u128(number)))
    }

    #[test]
    fn one_tenant_leaves_room_for_others() {
        let places = Places::new(8, 4);
        let enter = |tenant| places.enter(tenant).ok();
        let taken: Vec<Place> = std::iter::from_fn(|| enter(Tenant::Platform)).collect();
        assert_eq!(taken.len(), 4);
        let other = enter(head_office(1));
        assert!(other.is_some());
        drop(taken);
        assert_eq!(places.lock().len(), 1);
        drop(other);
        assert!(places.lock().is_empty());
    }

    #[test]
    fn the_total_of_waiting_writes_is_bounded() {
        let places = Places::new(8, 4);
        let mut taken = Vec::new();
        for number in 0..10 {
            let enter = || places.enter(head_office(number)).ok();
            taken.extend(std::iter::from_fn(enter));
        }
        assert_eq!(taken.len(), 8);
    }
}
