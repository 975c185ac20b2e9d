//! Head offices of which a full queue has just refused a write.
//!
//! In an overload most requests are refused. Refusing one before its key is looked up and its body parsed leaves that
//! time to those that are accepted.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use preauth_core::value::CompanyId;
use tokio::time::Instant;

/// For this long after a queue refused a write, others of the same head office are refused at once. A queue that refuses
/// has more work than that, so it does not run empty meanwhile.
const LASTS: Duration = Duration::from_millis(20);
/// Maximum number of head offices; when it is reached, all are forgotten.
const MAX: usize = 10_000;

/// When a write of each head office was refused last.
#[derive(Debug, Default)]
pub(super) struct Overloads(RwLock<HashMap<CompanyId, Instant>>);

impl Overloads {
    pub(super) fn note(&self, head_office: CompanyId) {
        let mut noted = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if noted.len() >= MAX {
            noted.clear();
        }
        noted.insert(head_office, Instant::now());
    }

    /// Whether further writes would be refused, too.
    pub(super) fn contain(&self, head_office: CompanyId) -> bool {
        let noted = self.0.read().unwrap_or_else(PoisonError::into_inner);
        noted
            .get(&head_office)
            .is_some_and(|refused_at| refused_at.elapsed() < LASTS)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use async_trait::async_trait;
    use preauth_core::port::Unavailable;
    use preauth_core::value::{
        ApiKeyId, CompanyId, CompanyKind, PermissionSet, Scope, ScopeSet, Timestamp, UserId,
    };
    use salvo::http::Request;
    use salvo::http::header::{AUTHORIZATION, HeaderValue};
    use secrecy::ExposeSecret;
    use tokio::time::advance;
    use uuid::Uuid;

    use super::{LASTS, MAX, Overloads};
    use crate::access::{Access, KeyHash, KeyRecord, NewApiKey, RateLimit};
    use crate::clock::SystemClock;
    use crate::fair::QueueError;
    use crate::http::{Gate, UnauthenticatedLimiter};
    use crate::live::Live;

    /// Knows every key, as one of a single head office; while it is full it refuses all of them.
    #[derive(Default)]
    struct Knowing {
        is_full: AtomicBool,
    }

    #[async_trait]
    impl Access for Knowing {
        async fn authenticate(
            &self,
            _key: &KeyHash,
            _limit: RateLimit,
            _now: Timestamp,
        ) -> Result<Option<KeyRecord>, Unavailable> {
            if self.is_full.load(Ordering::Relaxed) {
                let cause = Box::new(QueueError::Full);
                return Err(Unavailable { cause });
            }
            Ok(Some(KeyRecord {
                key: ApiKeyId::new(Uuid::from_u128(1)),
                scopes: ScopeSet::default(),
                revoked_at: None,
                expires_at: Timestamp::parse("2126-11-21T12:00:00.000Z").unwrap(),
                company: head_office(1),
                company_kind: CompanyKind::Construction,
                head_office: head_office(1),
                user: UserId::new(Uuid::from_u128(3)),
                user_is_active: true,
                company_is_suspended: false,
                permissions: PermissionSet::default(),
                window: None,
            }))
        }

        async fn find(&self, _key: &KeyHash) -> Result<Option<KeyRecord>, Unavailable> {
            Ok(None)
        }

        async fn key_hashes(
            &self,
            _after: ApiKeyId,
            _limit: u32,
        ) -> Result<Vec<(ApiKeyId, KeyHash)>, Unavailable> {
            Ok(Vec::new())
        }
    }

    fn request() -> Request {
        let mut request = Request::new();
        let key = NewApiKey::generate();
        let text = format!("Bearer {}", key.clear_text.expose_secret());
        let value = HeaderValue::from_str(&text).unwrap();
        request.headers_mut().insert(AUTHORIZATION, value);
        request
    }

    #[tokio::test(start_paused = true)]
    async fn a_gate_refuses_keys_that_it_has_seen_after_a_full_queue_and_no_others() {
        let access = Arc::new(Knowing::default());
        let gate = Gate::new(
            Arc::<Knowing>::clone(&access),
            Arc::new(SystemClock),
            Live::new(RateLimit::default()),
            UnauthenticatedLimiter::limited(),
        );
        let (seen, unseen) = (request(), request());
        gate.admit(&seen, Scope::PreauthWrite).await;
        assert!(gate.refuse_in_overload(&seen).is_ok());
        access.is_full.store(true, Ordering::Relaxed);
        let refused = gate.admit(&seen, Scope::PreauthWrite).await.caller;
        assert!(refused.unwrap_err().is_of_a_full_queue());
        for request in [&seen, &unseen] {
            gate.note_overload(request);
        }
        let refused = gate.refuse_in_overload(&seen).unwrap_err();
        assert!(refused.is_of_a_full_queue());
        assert!(gate.refuse_in_overload(&unseen).is_ok());
        advance(LASTS).await;
        assert!(gate.refuse_in_overload(&seen).is_ok());
    }

    fn head_office(number: usize) -> CompanyId {
        CompanyId::new(Uuid::from_u128(number.try_into().unwrap()))
    }

    #[tokio::test(start_paused = true)]
    async fn a_refusal_counts_for_its_head_office_and_for_a_moment() {
        let overloads = Overloads::default();
        let [one, other] = [1, 2].map(head_office);
        overloads.note(one);
        assert!(overloads.contain(one) && !overloads.contain(other));
        advance(LASTS).await;
        assert!(!overloads.contain(one));
        overloads.note(one);
        assert!(overloads.contain(one));
    }

    #[test]
    fn no_more_are_remembered_than_the_maximum() {
        let overloads = Overloads::default();
        for number in 0..=MAX {
            overloads.note(head_office(number));
        }
        assert_eq!(overloads.0.read().unwrap().len(), 1);
    }
}
