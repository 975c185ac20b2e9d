//! Creates of the platform API under an idempotency key: executed once, with the same answer for every
//! retry.
//!
//! A create commits its record and the answer together, so the key alone shows whether the create was
//! done. After a refusal, a lost race or an unknown outcome the key is looked up again.

use chrono::TimeDelta;

use crate::port::{NewReply, ReplyScope, Unavailable};
use crate::value::{Fingerprints, IdempotencyKey, Timestamp};

use super::{Operations, ServiceError};

/// Makes the answer to store with a record that is about to be committed.
pub type ReplyOf<'a, T> = dyn Fn(&T) -> NewReply + Sync + 'a;

/// The idempotency key of a create by the platform, with the fingerprints of the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlatformKey {
    key: IdempotencyKey,
    asked: Fingerprints,
    retention: TimeDelta,
}

/// How a create under a key ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Once<T> {
    /// The record was created by this call.
    Created(T),
    /// The key was answered before.
    Replayed {
        /// The body of the earlier answer, without values that are shown only once.
        body: String,
    },
}

impl PlatformKey {
    /// The reply to commit with the record; `body` is the answer.
    #[must_use]
    pub fn reply(&self, body: String) -> NewReply {
        NewReply {
            scope: ReplyScope::Platform,
            key: self.key.clone(),
            fingerprint: self.asked.compared(),
            body,
            retention: self.retention,
        }
    }
}

impl Operations {
    /// A key in the platform's own namespace, stored as long as the keys of offers.
    #[must_use]
    pub fn platform_key(&self, key: IdempotencyKey, asked: Fingerprints) -> PlatformKey {
        PlatformKey {
            key,
            asked,
            retention: self.policy.idempotency_retention,
        }
    }

    /// Runs `create`, which commits [`PlatformKey::reply`] with its record, unless `key` was answered
    /// before.
    ///
    /// Under one key there is one record and one answer, for any number of callers and across crashes.
    /// Only a create that succeeded is remembered. When it failed and the key cannot be looked up again, the
    /// outcome is [unknown](ServiceError::Unknown).
    pub async fn once<T, E: From<ServiceError>>(
        &self,
        key: &PlatformKey,
        now: Timestamp,
        create: impl Future<Output = Result<T, E>>,
    ) -> Result<Once<T>, E> {
        let guard = self.in_flight.enter(ReplyScope::Platform, &key.key);
        let _guard = guard.ok_or(ServiceError::IdempotencyInProgress)?;
        let answered = self.answer_before(key, now).await;
        if let Some(answer) = answered.map_err(ServiceError::from)? {
            return Ok(answer?);
        }
        match create.await {
            Ok(created) => Ok(Once::Created(created)),
            // The cause may be another instance or an abandoned request. This lookup also finds a commit
            // whose outcome was unknown.
            Err(error) => match self.answer_before(key, now).await {
                Ok(Some(answer)) => Ok(answer?),
                Ok(None) => Err(error),
                // The record in the way may be this key's own, of a commit that landed late.
                Err(unavailable) => Err(ServiceError::Unknown(unavailable.cause).into()),
            },
        }
    }

    async fn answer_before<T>(
        &self,
        key: &PlatformKey,
        now: Timestamp,
    ) -> Result<Option<Result<Once<T>, ServiceError>>, Unavailable> {
        let reply = self.store.load_platform_reply(&key.key).await?;
        let reply = reply.filter(|reply| now < reply.expires_at);
        Ok(reply.map(|reply| {
            if key.asked.include(&reply.fingerprint) {
                Ok(Once::Replayed { body: reply.body })
            } else {
                Err(ServiceError::IdempotencyKeyReused { operation: None })
            }
        }))
    }
}
