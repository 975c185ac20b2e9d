//! Events that report no change of an aggregate: an invoice was received, an endpoint is tested.

use crate::operation::Actor;
use crate::port::{Commit, EventRecord, NewReply, Subscription, Write};
use crate::value::{DeliveryId, EventId, EventType, Timestamp};

use super::error::Contended;
use super::{Attempt, ROUNDS, Service, ServiceError, Unsettled};

impl Service {
    /// Commits `write`, whose ids were reserved for it, with an event that has the body that
    /// `render` makes, and with the `reply` to remember. Returns the deliveries that it made: none when nobody subscribed to it.
    pub async fn announce(
        &self,
        write: Write,
        event_type: EventType,
        render: impl FnOnce(EventId) -> String + Send,
        subscriptions: &[Subscription],
        reply: Option<NewReply>,
        now: Timestamp,
    ) -> Result<Vec<DeliveryId>, ServiceError> {
        let id = EventId::new(self.ids.uuid(now));
        let deliveries = self.deliveries(event_type, write.head_office(), subscriptions, now);
        let made: Vec<DeliveryId> = deliveries.iter().map(|delivery| delivery.id).collect();
        let commit = Commit {
            write,
            event: EventRecord {
                id,
                event_type,
                at: now,
                actor: Actor::Platform,
                body: render(id),
            },
            deliveries,
            supplier: None,
            notice: None,
            reply,
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
