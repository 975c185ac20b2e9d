//! Events that report no change of an aggregate: a received invoice and the test of an endpoint.

use std::slice::from_ref;

use crate::ReceivedInvoice;
use crate::operation::Actor;
use crate::port::{Commit, EventRecord, InvoiceEvent, NewDelivery, NewReply, Subscription, Write};
use crate::value::{DeliveryId, EventId, EventType, Timestamp};

use super::error::Contended;
use super::{Attempt, Operations, ROUNDS, ReplyOf, ServiceError, Unsettled};

/// An event that was recorded without a change of an aggregate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Announced {
    /// The event.
    pub event: EventRecord,
    /// The deliveries that were created; empty when no endpoint subscribed to the event.
    pub deliveries: Vec<DeliveryId>,
}

impl Operations {
    /// Records an invoice that the platform received, under the id reserved for it, and creates a
    /// delivery for each of `subscriptions` that its payer made for this event.
    ///
    /// `reply` is the answer to store with the invoice if it was sent under an idempotency key (see
    /// [`Operations::once`]).
    pub async fn receive_invoice(
        &self,
        invoice: &ReceivedInvoice,
        subscriptions: &[Subscription],
        reply: Option<NewReply>,
    ) -> Result<Announced, ServiceError> {
        let (id, at) = (
            EventId::new(self.ids.uuid(invoice.received_at)),
            invoice.received_at,
        );
        let body = self.render.invoice_event(&InvoiceEvent { id, at, invoice });
        let write = Write::NewInvoice(Box::new(invoice.clone()));
        let event = platform_event(id, EventType::InvoiceReceived, at, body);
        let made = self.announced(event, &write, subscriptions);
        self.announce(write, made, |_| reply).await
    }

    /// Records a test event and its delivery to an endpoint, regardless of the events it subscribed to.
    /// `reply` makes the answer to store with it, as in [`receive_invoice`](Self::receive_invoice).
    pub async fn send_test_event(
        &self,
        endpoint: &Subscription,
        reply: Option<&ReplyOf<'_, Announced>>,
        now: Timestamp,
    ) -> Result<Announced, ServiceError> {
        let id = EventId::new(self.ids.uuid(now));
        let body = self.render.test_event(id, now);
        let write = Write::EventOnly {
            head_office: endpoint.head_office,
        };
        let event = platform_event(id, EventType::WebhookTest, now, body);
        let made = self.announced(event, &write, from_ref(endpoint));
        self.announce(write, made, |made| reply.map(|reply| reply(made)))
            .await
    }

    fn announced(
        &self,
        event: EventRecord,
        write: &Write,
        subscriptions: &[Subscription],
    ) -> (Announced, Vec<NewDelivery>) {
        let to = write.head_office();
        let deliveries = self.deliveries(event.event_type, to, subscriptions, event.at);
        let made = Announced {
            event,
            deliveries: deliveries.iter().map(|delivery| delivery.id).collect(),
        };
        (made, deliveries)
    }

    /// Commits `write` with its event.
    async fn announce(
        &self,
        write: Write,
        (made, deliveries): (Announced, Vec<NewDelivery>),
        reply: impl FnOnce(&Announced) -> Option<NewReply> + Send,
    ) -> Result<Announced, ServiceError> {
        let mut commit = Commit::new(write, made.event.clone(), deliveries);
        commit.reply = reply(&made);
        let mut unsettled = Unsettled::default();
        let mut last = ServiceError::from(Contended);
        // Every round sends the same commit, so at most one of them is applied.
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

const fn platform_event(
    id: EventId,
    event_type: EventType,
    at: Timestamp,
    body: String,
) -> EventRecord {
    EventRecord {
        id,
        event_type,
        at,
        actor: Actor::Platform,
        body,
    }
}
