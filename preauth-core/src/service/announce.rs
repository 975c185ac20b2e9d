//! Events that report no change of an aggregate: an invoice was received, an endpoint is tested.

use crate::operation::Actor;
use crate::port::{Commit, EventRecord, Subscription, Write};
use crate::value::{DeliveryId, EventId, EventType, Timestamp};

use super::error::Contended;
use super::{Attempt, ROUNDS, ReplyOf, Service, ServiceError, Unsettled};

/// An event that was recorded for itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Announced {
    /// The event.
    pub event: EventRecord,
    /// The deliveries that were made: none when nobody subscribed to it.
    pub deliveries: Vec<DeliveryId>,
}

impl Service {
    /// Commits `write`, whose ids were reserved for it, with an event that has the body that
    /// `render` makes.
    ///
    /// `reply` makes the answer that is remembered with it, when it was sent under an idempotency
    /// key (see [`Service::once`]).
    pub async fn announce(
        &self,
        write: Write,
        event_type: EventType,
        render: impl FnOnce(EventId) -> String + Send,
        subscriptions: &[Subscription],
        reply: Option<&ReplyOf<'_, Announced>>,
        now: Timestamp,
    ) -> Result<Announced, ServiceError> {
        let id = EventId::new(self.ids.uuid(now));
        let deliveries = self.deliveries(event_type, write.head_office(), subscriptions, now);
        let made = Announced {
            event: EventRecord {
                id,
                event_type,
                at: now,
                actor: Actor::Platform,
                body: render(id),
            },
            deliveries: deliveries.iter().map(|delivery| delivery.id).collect(),
        };
        let commit = Commit {
            write,
            event: made.event.clone(),
            deliveries,
            supplier: None,
            notice: None,
            reply: reply.map(|reply| reply(&made)),
            file: None,
        };
        let mut unsettled = Unsettled::default();
        let mut last = ServiceError::from(Contended);
        // Every round sends the very same commit, so that one of them is applied at most.
        for _ in 0..ROUNDS {
            let attempt = self.attempt(commit.clone(), made.clone(), &mut unsettled);
            let applied = match attempt.await {
                Ok(Attempt::Done(made)) => Ok(Some(made)),
                Ok(Attempt::InProgress) if unsettled.is_empty() => {
                    return Err(ServiceError::IdempotencyInProgress);
                }
                Ok(Attempt::Conflict | Attempt::InProgress) => self.applied(&unsettled).await,
                Ok(Attempt::Failed(failure)) => {
                    last = failure;
                    continue;
                }
                Err(failure) => Err(failure),
            };
            match applied {
                Ok(Some(made)) => return Ok(made),
                Ok(None) => {}
                Err(failure) => return Err(unsettled.or_unknown(failure)),
            }
        }
        Err(unsettled.or_unknown(last))
    }
}
