//! What the platform itself creates, under an idempotency key: created once, answered always.
//!
//! A create commits its record and the answer together, so that the key alone shows whether it was
//! done: after a refusal, a lost race or an unknown outcome the key is looked up again.

use chrono::TimeDelta;

use crate::port::{NewReply, ReplyScope, Unavailable};
use crate::value::{Fingerprints, IdempotencyKey, Timestamp};

use super::{Operations, ServiceError};

/// Makes the answer to remember of a record that is about to be committed.
pub type ReplyOf<'a, T> = dyn Fn(&T) -> NewReply + Sync + 'a;

/// The idempotency key of a create by the platform, and what is asked for under it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlatformKey {
    key: IdempotencyKey,
    asked: Fingerprints,
    retention: TimeDelta,
}

/// How a create under a key ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Once<T> {
    /// It was done now.
    Created(T),
    /// The key was answered before.
    Replayed {
        /// The body of that answer, without what is shown only once.
        body: String,
    },
}

impl PlatformKey {
    /// The reply to commit with the record, whose answer is `body`.
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
    /// A key of the platform's own namespace, remembered as long as those of offers.
    #[must_use]
    pub fn platform_key(&self, key: IdempotencyKey, asked: Fingerprints) -> PlatformKey {
        PlatformKey {
            key,
            asked,
            retention: self.policy.idempotency_retention,
        }
    }

    /// Does `create`, which commits [`PlatformKey::reply`] with its record, unless `key` was
    /// answered before.
    ///
    /// Under one key there is one record and one answer, from any number of callers and through
    /// crashes. Only a create that succeeded is remembered.
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
            // Another instance, or a request that was given up, may have been in the way; and what
            // was committed without our learning of it is found here.
            Err(error) => match self.answer_before(key, now).await {
                Ok(Some(answer)) => Ok(answer?),
                Ok(None) | Err(_) => Err(error),
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
                Err(ServiceError::IdempotencyKeyReused)
            }
        }))
    }
}
