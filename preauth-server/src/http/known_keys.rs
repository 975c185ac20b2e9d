//! Whether a key or an operator's token exists, without a query for each request.
//!
//! A client that sent too many unknown keys must not cause further queries. A valid key from the
//! same address must still be accepted, also on an instance that has just started. So once a client
//! has sent too many, the existing keys are listed in memory, and only listed keys are looked up.
//! Before a key is refused, the list is refreshed by reading the recent keys: once for all waiting
//! requests, and at most ten times a second.

use std::collections::HashSet;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use async_trait::async_trait;
use preauth_core::port::Unavailable;
use preauth_core::value::{ApiKeyId, OperatorId};
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep_until};
use uuid::Uuid;

use crate::access::{Access, HashBeginning, KeyHash};
use crate::directory::Operators;

/// Minimum time between two refreshes.
const MIN_INTERVAL: Duration = Duration::from_millis(100);
/// Keys read in one query.
const PAGE: u32 = 5_000;
/// How far before the newest known key a refresh begins. Ids begin with their time of creation, but keys
/// are committed later: a commit takes less than this, and the clocks of instances differ by less.
const OVERLAP_MS: u64 = 10 * 60 * 1000;

/// The existing keys, as of the last refresh.
pub(super) struct KnownKeys {
    source: Box<dyn HashSource>,
    listed: RwLock<HashSet<HashBeginning>>,
    reading: Mutex<Reading>,
}

/// The stored hashes.
#[async_trait]
trait HashSource: Send + Sync {
    /// At most `limit` hashes of records whose ids come after `after`, in the order of their ids.
    async fn after(&self, after: Uuid, limit: u32) -> Result<Vec<(Uuid, KeyHash)>, Unavailable>;
}

#[async_trait]
impl HashSource for Arc<dyn Access> {
    async fn after(&self, after: Uuid, limit: u32) -> Result<Vec<(Uuid, KeyHash)>, Unavailable> {
        let page = self.key_hashes(ApiKeyId::new(after), limit).await?;
        Ok(page
            .iter()
            .map(|(id, hash)| (*id.as_uuid(), *hash))
            .collect())
    }
}

#[async_trait]
impl HashSource for Arc<dyn Operators> {
    async fn after(&self, after: Uuid, limit: u32) -> Result<Vec<(Uuid, KeyHash)>, Unavailable> {
        let page = self.operator_hashes(OperatorId::new(after), limit).await?;
        Ok(page
            .iter()
            .map(|(id, hash)| (*id.as_uuid(), *hash))
            .collect())
    }
}

#[derive(Debug)]
struct Reading {
    /// When the last refresh began.
    began_at: Option<Instant>,
    newest: Uuid,
}

impl KnownKeys {
    /// The API keys.
    pub(super) fn new(access: Arc<dyn Access>) -> Self {
        Self::of(Box::new(access))
    }

    /// The tokens of named operators.
    pub(super) fn of_operators(operators: Arc<dyn Operators>) -> Self {
        Self::of(Box::new(operators))
    }

    fn of(source: Box<dyn HashSource>) -> Self {
        Self {
            source,
            listed: RwLock::default(),
            reading: Mutex::new(Reading {
                began_at: None,
                newest: Uuid::nil(),
            }),
        }
    }

    /// Whether a key whose hash begins so existed when this was called.
    pub(super) async fn contains(&self, key: HashBeginning) -> Result<bool, Unavailable> {
        if self.is_listed(key) {
            return Ok(true);
        }
        let asked_at = Instant::now();
        let mut reading = self.reading.lock().await;
        if reading.began_at.is_none_or(|began_at| began_at <= asked_at) {
            if let Some(began_at) = reading.began_at {
                sleep_until(began_at.checked_add(MIN_INTERVAL).unwrap_or(began_at)).await;
            }
            reading.began_at = Some(Instant::now());
            self.read(&mut reading.newest).await?;
        }
        Ok(self.is_listed(key))
    }

    /// Reads the keys created since `newest`, and advances it.
    async fn read(&self, newest: &mut Uuid) -> Result<(), Unavailable> {
        let mut after = before_overlap(*newest);
        loop {
            let page = self.source.after(after, PAGE).await?;
            let Some((last, _)) = page.last() else {
                return Ok(());
            };
            after = *last;
            *newest = after.max(*newest);
            let is_last = page.len() < usize::try_from(PAGE).unwrap_or(usize::MAX);
            let mut listed = self.listed.write().unwrap_or_else(PoisonError::into_inner);
            listed.extend(page.iter().map(|(_, hash)| hash.beginning()));
            if is_last {
                return Ok(());
            }
        }
    }

    fn is_listed(&self, key: HashBeginning) -> bool {
        let listed = self.listed.read().unwrap_or_else(PoisonError::into_inner);
        listed.contains(&key)
    }
}

/// The lowest id that could have been created within the overlap before this one.
fn before_overlap(newest: Uuid) -> Uuid {
    let (made_at_ms, _) = newest.as_u64_pair();
    let made_at_ms = made_at_ms.wrapping_shr(16).saturating_sub(OVERLAP_MS);
    Uuid::from_u64_pair(made_at_ms.wrapping_shl(16), 0)
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicU32, Ordering};

    use async_trait::async_trait;
    use preauth_core::ErrorCode;
    use preauth_core::value::{Scope, Timestamp};
    use salvo::http::Request;
    use salvo::http::header::{AUTHORIZATION, HeaderValue};
    use secrecy::ExposeSecret;

    use super::*;
    use crate::access::NewApiKey;
    use crate::access::{KeyRecord, RateLimit};
    use crate::clock::SystemClock;
    use crate::http::{Gate, UnauthenticatedLimiter, WritesUnderWay};
    use crate::live::Live;

    /// Lists keys; its look-ups find nothing.
    #[derive(Default)]
    struct Listing {
        keys: Mutex<Vec<(ApiKeyId, KeyHash)>>,
        look_ups: AtomicU32,
        readings: AtomicU32,
    }

    impl Listing {
        fn add(&self, made_at_ms: u64, hash: KeyHash) {
            let id = ApiKeyId::new(Uuid::from_u64_pair(made_at_ms << 16, 1));
            let mut keys = self.keys.lock().unwrap();
            keys.push((id, hash));
            keys.sort_by_key(|(id, _)| *id);
        }
    }

    #[async_trait]
    impl Access for Listing {
        async fn authenticate(
            &self,
            _key: &KeyHash,
            _limit: RateLimit,
            _now: Timestamp,
        ) -> Result<Option<KeyRecord>, Unavailable> {
            self.look_ups.fetch_add(1, Ordering::Relaxed);
            Ok(None)
        }

        async fn find(&self, _key: &KeyHash) -> Result<Option<KeyRecord>, Unavailable> {
            Ok(None)
        }

        async fn key_hashes(
            &self,
            after: ApiKeyId,
            limit: u32,
        ) -> Result<Vec<(ApiKeyId, KeyHash)>, Unavailable> {
            self.readings.fetch_add(1, Ordering::Relaxed);
            let keys = self.keys.lock().unwrap();
            let later = keys.iter().filter(|(id, _)| *id > after);
            Ok(later.take(limit.try_into().unwrap()).copied().collect())
        }
    }

    fn hash(number: u8) -> KeyHash {
        KeyHash([number; 32])
    }

    #[tokio::test(start_paused = true)]
    async fn a_key_is_known_from_the_moment_in_which_it_is_made() {
        let access = Arc::new(Listing::default());
        let known = KnownKeys::new(Arc::<Listing>::clone(&access));
        let minute = 60_000;
        access.add(100 * minute, hash(1));
        assert!(known.contains(hash(1).beginning()).await.unwrap());
        assert!(!known.contains(hash(2).beginning()).await.unwrap());
        access.add(101 * minute, hash(2));
        assert!(known.contains(hash(2).beginning()).await.unwrap());
        // Created before the newest key, and committed after it.
        access.add(92 * minute, hash(3));
        assert!(known.contains(hash(3).beginning()).await.unwrap());
    }

    #[tokio::test(start_paused = true)]
    async fn all_who_wait_are_answered_by_one_reading() {
        let access = Arc::new(Listing::default());
        let known = KnownKeys::new(Arc::<Listing>::clone(&access));
        known.contains(hash(0).beginning()).await.unwrap();
        let keys: Vec<_> = (0..100).map(|n| hash(n).beginning()).collect();
        let begin = Instant::now();
        let asked = keys.iter().map(|key| known.contains(*key));
        let answers = futures_util::future::join_all(asked).await;
        assert!(answers.into_iter().all(|answer| !answer.unwrap()));
        assert_eq!(access.readings.load(Ordering::Relaxed), 2);
        assert_eq!(begin.elapsed(), MIN_INTERVAL);
    }

    #[tokio::test]
    async fn unknown_keys_of_a_client_that_sent_too_many_are_not_looked_up() {
        let access = Arc::new(Listing::default());
        let gate = Gate::new(
            Arc::<Listing>::clone(&access),
            Arc::new(SystemClock),
            Live::new(RateLimit::default()),
            UnauthenticatedLimiter::limited(),
            WritesUnderWay::new(8),
        );
        let present = async |key: &NewApiKey| {
            let mut request = Request::new();
            let text = format!("Bearer {}", key.clear_text.expose_secret());
            let value = HeaderValue::from_str(&text).unwrap();
            request.headers_mut().insert(AUTHORIZATION, value);
            let admission = gate.admit(&request, Scope::PreauthRead).await;
            admission.caller.unwrap_err().code
        };
        let guess = NewApiKey::generate();
        for _ in 0..600 {
            assert_eq!(present(&guess).await, ErrorCode::ApiKeyInvalid);
        }
        for _ in 0..3 {
            assert_eq!(
                present(&NewApiKey::generate()).await,
                ErrorCode::RateLimited
            );
        }
        assert_eq!(access.look_ups.load(Ordering::Relaxed), 600);
        let real = NewApiKey::generate();
        access.add(1, real.hash);
        present(&real).await;
        assert_eq!(access.look_ups.load(Ordering::Relaxed), 601);
    }
}
