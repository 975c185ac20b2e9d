//! Keys whose rate window is used up: their requests are refused without a query.
//!
//! This cache never admits a request. A key is added when the database has counted more than its
//! limit, and removed at the end of that window; the shared window in the database stays decisive.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chrono::TimeDelta;
use preauth_core::value::{ApiKeyId, Timestamp};
use tokio::time::Instant;

use crate::access::{KeyHash, KeyRecord, RateLimit};

/// Maximum time until a revocation by another instance takes effect here.
const RECHECK_AFTER: Duration = Duration::from_secs(1);
/// Maximum number of keys remembered; when it is reached, the cache is cleared.
const MAX_KEYS: usize = 100_000;

/// Keys that are refused until their window ends.
#[derive(Debug, Default)]
pub(super) struct ExhaustedKeys(Mutex<HashMap<KeyHash, Exhausted>>);

#[derive(Debug)]
struct Exhausted {
    entry: KeyRecord,
    limit: RateLimit,
    checked_at: Instant,
}

/// The cached state of a key.
#[derive(Debug)]
pub(super) enum Known {
    /// Nothing.
    Nothing,
    /// Its window is used up.
    UsedUp(KeyRecord),
    /// The same; this caller alone must look up now whether the key was revoked.
    Recheck(KeyRecord),
}

impl ExhaustedKeys {
    /// The cached state of `key`, for a request at `now` under this limit.
    pub(super) fn find(&self, key: &KeyHash, limit: RateLimit, now: Timestamp) -> Known {
        let mut keys = self.lock();
        let Some(known) = keys.get_mut(key) else {
            return Known::Nothing;
        };
        if known.limit != limit || !is_used_up(&known.entry, limit, now) {
            keys.remove(key);
            return Known::Nothing;
        }
        let entry = known.entry.clone();
        if known.checked_at.elapsed() < RECHECK_AFTER {
            return Known::UsedUp(entry);
        }
        known.checked_at = Instant::now();
        Known::Recheck(entry)
    }

    /// Adds the key if the database has counted more in its window than the limit.
    pub(super) fn note(&self, key: KeyHash, limit: RateLimit, entry: &KeyRecord) {
        if !is_over(entry, limit) {
            return;
        }
        let mut keys = self.lock();
        if keys.len() >= MAX_KEYS {
            keys.clear();
        }
        let known = Exhausted {
            entry: entry.clone(),
            limit,
            checked_at: Instant::now(),
        };
        keys.insert(key, known);
    }

    /// Removes a key that has changed.
    pub(super) fn forget(&self, key: ApiKeyId) {
        self.lock().retain(|_, known| known.entry.key != key);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<KeyHash, Exhausted>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_over(entry: &KeyRecord, limit: RateLimit) -> bool {
    entry
        .window
        .is_some_and(|window| window.count > limit.requests)
}

/// Whether a request at `now` exceeds the limit in the window that the database counted last.
fn is_used_up(entry: &KeyRecord, limit: RateLimit, now: Timestamp) -> bool {
    let length = TimeDelta::seconds(limit.window_seconds.into());
    let is_running = entry
        .window
        .is_some_and(|window| now.since(window.started_at).abs() < length);
    is_running && is_over(entry, limit) && now < entry.expires_at
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use chrono::TimeDelta;
    use preauth_core::value::{
        ApiKeyId, CompanyId, CompanyKind, PermissionSet, ScopeSet, Timestamp, UserId,
    };
    use uuid::Uuid;

    use super::{ExhaustedKeys, Known, RECHECK_AFTER};
    use crate::access::{KeyHash, KeyRecord, RateLimit, Window};

    const KEY: KeyHash = KeyHash([7; 32]);
    const LIMIT: RateLimit = RateLimit {
        requests: 3,
        window_seconds: 60,
    };

    fn now() -> Timestamp {
        Timestamp::parse("2026-11-21T12:00:00.000Z").unwrap()
    }

    fn later(seconds: i64) -> Timestamp {
        now().saturating_add(TimeDelta::seconds(seconds))
    }

    fn counted(count: u32) -> KeyRecord {
        let company = CompanyId::new(Uuid::from_u128(2));
        KeyRecord {
            key: ApiKeyId::new(Uuid::from_u128(1)),
            scopes: ScopeSet::default(),
            revoked_at: None,
            expires_at: later(50),
            company,
            company_kind: CompanyKind::Construction,
            head_office: company,
            user: UserId::new(Uuid::from_u128(3)),
            user_is_active: true,
            company_is_suspended: false,
            permissions: PermissionSet::default(),
            window: Some(Window {
                count,
                started_at: now(),
            }),
        }
    }

    fn is_used_up(keys: &ExhaustedKeys, limit: RateLimit, at: Timestamp) -> bool {
        !matches!(keys.find(&KEY, limit, at), Known::Nothing)
    }

    fn exhausted() -> ExhaustedKeys {
        let keys = ExhaustedKeys::default();
        keys.note(KEY, LIMIT, &counted(4));
        keys
    }

    #[tokio::test]
    async fn a_key_at_its_limit_is_not_remembered() {
        let keys = ExhaustedKeys::default();
        keys.note(KEY, LIMIT, &counted(3));
        assert!(!is_used_up(&keys, LIMIT, now()));
    }

    #[tokio::test]
    async fn a_key_is_remembered_until_its_window_or_the_key_itself_ends() {
        assert!(is_used_up(&exhausted(), LIMIT, later(49)));
        assert!(!is_used_up(&exhausted(), LIMIT, later(50)));
        assert!(is_used_up(&exhausted(), LIMIT, later(-59)));
        assert!(!is_used_up(&exhausted(), LIMIT, later(-60)));
    }

    #[tokio::test]
    async fn another_limit_and_a_change_of_the_key_end_it() {
        let higher = RateLimit {
            requests: 5,
            ..LIMIT
        };
        assert!(!is_used_up(&exhausted(), higher, now()));
        let keys = exhausted();
        keys.forget(counted(4).key);
        assert!(!is_used_up(&keys, LIMIT, now()));
    }

    #[tokio::test(start_paused = true)]
    async fn one_caller_a_second_looks_the_key_up() {
        let keys = exhausted();
        assert!(matches!(keys.find(&KEY, LIMIT, now()), Known::UsedUp(_)));
        tokio::time::advance(RECHECK_AFTER.saturating_sub(Duration::from_millis(1))).await;
        assert!(matches!(keys.find(&KEY, LIMIT, now()), Known::UsedUp(_)));
        tokio::time::advance(Duration::from_millis(1)).await;
        assert!(matches!(keys.find(&KEY, LIMIT, now()), Known::Recheck(_)));
        assert!(matches!(keys.find(&KEY, LIMIT, now()), Known::UsedUp(_)));
    }
}
