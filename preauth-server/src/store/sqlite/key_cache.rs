//! Keys with their companies and users, in memory: only this process changes them, by its writer.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::access::{KeyHash, KeyRecord};

/// Maximum number of keys; when it is reached, the cache is cleared.
const MAX_KEYS: usize = 10_000;

/// Keys as they were looked up, without windows. Every write of records that operators maintain clears
/// it before its caller gets the answer.
#[derive(Debug, Default)]
pub(super) struct KeyCache(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    keys: HashMap<KeyHash, KeyRecord>,
    /// Counts how often the cache was cleared.
    generation: u64,
}

/// The state of the cache before a look-up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Generation(u64);

impl KeyCache {
    /// The key, or the generation with which to add it after a look-up.
    pub(super) fn find(&self, key: &KeyHash) -> Result<KeyRecord, Generation> {
        let state = self.lock();
        let found = state.keys.get(key).cloned();
        found.ok_or(Generation(state.generation))
    }

    /// Adds a key, unless the cache was cleared since: the look-up may have read what has changed.
    pub(super) fn add(&self, before: Generation, key: KeyHash, entry: KeyRecord) {
        let mut state = self.lock();
        if state.generation != before.0 {
            return;
        }
        if state.keys.len() >= MAX_KEYS {
            state.keys.clear();
        }
        state.keys.insert(key, entry);
    }

    /// Forgets all keys when the value is dropped, however the write ends that owns it: also one of
    /// unknown outcome may have revoked a key.
    pub(super) fn clearing(self: &Arc<Self>) -> Clearing {
        Clearing(Arc::clone(self))
    }

    fn clear(&self) {
        let mut state = self.lock();
        state.keys.clear();
        state.generation = state.generation.wrapping_add(1);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Clears the cache when it is dropped.
pub(super) struct Clearing(Arc<KeyCache>);

impl Drop for Clearing {
    fn drop(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use preauth_core::value::{
        ApiKeyId, CompanyId, CompanyKind, PermissionSet, ScopeSet, Timestamp, UserId,
    };
    use uuid::Uuid;

    use super::KeyCache;
    use crate::access::{KeyHash, KeyRecord};

    const KEY: KeyHash = KeyHash([7; 32]);

    fn entry() -> KeyRecord {
        let company = CompanyId::new(Uuid::from_u128(2));
        KeyRecord {
            key: ApiKeyId::new(Uuid::from_u128(1)),
            scopes: ScopeSet::default(),
            revoked_at: None,
            expires_at: Timestamp::parse("2026-11-21T12:00:00.000Z").unwrap(),
            company,
            company_kind: CompanyKind::Construction,
            head_office: company,
            user: UserId::new(Uuid::from_u128(3)),
            user_is_active: true,
            company_is_suspended: false,
            permissions: PermissionSet::default(),
            window: None,
        }
    }

    #[test]
    fn a_key_is_known_until_something_changes() {
        let cache = KeyCache::default();
        let before = cache.find(&KEY).unwrap_err();
        cache.add(before, KEY, entry());
        assert_eq!(cache.find(&KEY).unwrap(), entry());
        cache.clear();
        assert!(cache.find(&KEY).is_err());
    }

    #[test]
    fn a_write_of_unknown_outcome_clears_the_cache() {
        let cache = Arc::new(KeyCache::default());
        let before = cache.find(&KEY).unwrap_err();
        cache.add(before, KEY, entry());
        drop(cache.clearing());
        assert!(cache.find(&KEY).is_err());
    }

    #[test]
    fn a_key_that_was_looked_up_before_a_change_is_not_added_after_it() {
        let cache = KeyCache::default();
        let before = cache.find(&KEY).unwrap_err();
        cache.clear();
        cache.add(before, KEY, entry());
        assert!(cache.find(&KEY).is_err());
    }
}
