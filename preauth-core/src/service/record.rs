//! Builds the commit of a decision: the event with its frozen body, and its deliveries.

use crate::delivery::recipients;
use crate::operation::{Action, Actor, Change, Closing, Operation};
use crate::port::{
    Commit, EventRecord, ExtensionRecord, NewDelivery, OperationEvent, Subscription, Write,
};
use crate::value::{CompanyId, DeliveryId, EventId, EventType, Timestamp};

use super::Operations;

impl Operations {
    /// The commit of `change`, whose new state is `next`.
    pub(super) fn commit_of_change(
        &self,
        next: Operation,
        change: &Change,
        actor: Actor,
        subscriptions: &[Subscription],
        now: Timestamp,
    ) -> Commit {
        let facts = OperationEvent {
            id: EventId::new(self.ids.uuid(now)),
            event_type: change.event_type(),
            at: now,
            operation: &next,
            stage: change.stage(),
            reason: change.closing().map(Closing::reason),
            extension: change.extension().map(|(extension, _)| extension),
        };
        let event = self.event_record(&facts, actor);
        let deliveries =
            self.deliveries(event.event_type, next.payer.head_office, subscriptions, now);
        let extension = change
            .extension()
            .map(|(extension, status)| ExtensionRecord {
                extension: *extension,
                status,
            });
        let write = Write::Operation {
            extension,
            operation: Box::new(next),
        };
        Commit::new(write, event, deliveries)
    }

    /// The event that reports the creation of `operation`.
    pub(super) fn opening_event(
        &self,
        operation: &Operation,
        action: Action,
        actor: Actor,
    ) -> EventRecord {
        let facts = OperationEvent {
            id: EventId::new(self.ids.uuid(operation.created_at)),
            event_type: action.transition().event,
            at: operation.created_at,
            operation,
            stage: None,
            reason: None,
            extension: None,
        };
        self.event_record(&facts, actor)
    }

    pub(super) fn deliveries(
        &self,
        event_type: EventType,
        payer_head_office: CompanyId,
        subscriptions: &[Subscription],
        now: Timestamp,
    ) -> Vec<NewDelivery> {
        recipients(event_type, payer_head_office, subscriptions)
            .into_iter()
            .map(|subscription| NewDelivery {
                id: DeliveryId::new(self.ids.uuid(now)),
                endpoint: subscription.endpoint,
            })
            .collect()
    }

    fn event_record(&self, facts: &OperationEvent<'_>, actor: Actor) -> EventRecord {
        EventRecord {
            id: facts.id,
            event_type: facts.event_type,
            at: facts.at,
            actor,
            body: self.render.operation_event(facts),
        }
    }
}
