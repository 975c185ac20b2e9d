//! On whose account a request is, before its key was looked up.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use preauth_core::value::CompanyId;

use crate::access::KeyHash;
use crate::fair::Tenant;

/// So many keys are remembered; when there are more, it begins anew.
const KEYS_LIMIT: usize = 100_000;

/// Head offices of keys that were looked up before. Only a place in a queue depends on it.
#[derive(Debug, Default)]
pub(super) struct Tenants(RwLock<HashMap<KeyHash, CompanyId>>);

impl Tenants {
    /// Keys that nobody has are never remembered: they share one place, however many are tried.
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
