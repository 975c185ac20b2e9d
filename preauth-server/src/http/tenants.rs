//! The tenant of a request, before its key is looked up.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use preauth_core::value::CompanyId;

use crate::access::KeyHash;
use crate::fair::Tenant;

/// Maximum number of keys remembered; when it is reached, the map is cleared.
const KEYS_LIMIT: usize = 100_000;

/// Head offices of keys that were looked up before. They decide the place in a queue, and who is refused in an overload,
/// and nothing else.
#[derive(Debug, Default)]
pub(super) struct Tenants(RwLock<HashMap<KeyHash, CompanyId>>);

impl Tenants {
    /// Unknown keys are never remembered: they all share one place.
    pub(super) fn of(&self, key: &KeyHash) -> Tenant {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        known
            .get(key)
            .map_or(Tenant::Unknown, |company| Tenant::HeadOffice(*company))
    }

    pub(super) fn remember(&self, key: KeyHash, head_office: CompanyId) {
        if self.of(&key) == Tenant::HeadOffice(head_office) {
            return;
        }
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= KEYS_LIMIT {
            known.clear();
        }
        known.insert(key, head_office);
    }
}
