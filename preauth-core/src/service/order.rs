//! Payment orders: load, decide, evolve and commit, on the smaller aggregate.

use chrono::NaiveDate;

use crate::operation::Actor;
use crate::payment_order::{
    OrderAction, OrderCommand, OrderRejection, PaymentOrder, decide, decide_new, evolve,
};
use crate::port::{Commit, EventRecord, OrderEvent, OrderTarget, Subscription, Write};
use crate::value::{EventId, Money, PaymentOrderId, PaymentOrderStatus, Timestamp, Version};

use super::error::Contended;
use super::{Attempt, Operations, ROUNDS, ReplyOf, Round, ServiceError, Unsettled};

impl Operations {
    /// Generates a payment order, unless its operation already has one in force. `reply` makes the answer
    /// to store with it if it was sent under an idempotency key (see [`Operations::once`]).
    pub async fn create_order(
        &self,
        target: &OrderTarget,
        amount: Money,
        scheduled_for: Option<NaiveDate>,
        reply: Option<&ReplyOf<'_, PaymentOrder>>,
        now: Timestamp,
    ) -> Result<PaymentOrder, ServiceError> {
        let mut unsettled = Unsettled::default();
        let mut last = ServiceError::from(Contended);
        let terms = (amount, scheduled_for, reply);
        for _ in 0..ROUNDS {
            match self.create_once(target, terms, now, &mut unsettled).await {
                Ok(Round::Done(order)) => return Ok(order),
                Ok(Round::Again(failure)) => last = failure,
                Err(failure) => return Err(unsettled.or_unknown(failure)),
            }
        }
        Err(unsettled.or_unknown(last))
    }

    /// Executes `command` on the payment order `id`; of concurrent commands exactly one wins.
    pub async fn order_command(
        &self,
        id: PaymentOrderId,
        command: &OrderCommand,
        now: Timestamp,
    ) -> Result<PaymentOrder, ServiceError> {
        let mut unsettled = Unsettled::default();
        let mut last = ServiceError::from(Contended);
        for _ in 0..ROUNDS {
            match self.order_once(id, command, now, &mut unsettled).await {
                Ok(Round::Done(order)) => return Ok(order),
                Ok(Round::Again(failure)) => last = failure,
                Err(failure) => return Err(unsettled.or_unknown(failure)),
            }
        }
        Err(unsettled.or_unknown(last))
    }

    async fn create_once(
        &self,
        target: &OrderTarget,
        (amount, scheduled_for, reply): (
            Money,
            Option<NaiveDate>,
            Option<&ReplyOf<'_, PaymentOrder>>,
        ),
        now: Timestamp,
        unsettled: &mut Unsettled<PaymentOrder>,
    ) -> Result<Round<PaymentOrder>, ServiceError> {
        let loaded = self.store.load_new_order(target).await?;
        let loaded = loaded.ok_or(ServiceError::UnknownCompany)?;
        if let Some(order) = self.applied(unsettled).await? {
            return Ok(Round::Done(order));
        }
        decide_new(&loaded.others)?;
        let order = PaymentOrder {
            // Reuse the id of an attempt that may have been applied, so that no second order is
            // generated.
            id: unsettled.first().map_or(loaded.order, |order| order.id),
            version: Version::INITIAL,
            payer: loaded.payer,
            supplier: loaded.supplier,
            amount,
            scheduled_for,
            operation: target.operation,
            status: PaymentOrderStatus::Created,
            reason: None,
            created_at: now,
        };
        let write = Write::NewOrder {
            order: Box::new(order.clone()),
            instead_of: loaded.current,
        };
        let action = OrderAction::Create;
        let mut commit = self.order_commit(write, &order, action, &loaded.subscriptions, now);
        commit.reply = reply.map(|reply| reply(&order));
        Ok(match self.attempt(commit, order, unsettled).await? {
            Attempt::Done(order) => Round::Done(order),
            Attempt::InProgress if unsettled.is_empty() => {
                return Err(ServiceError::IdempotencyInProgress);
            }
            Attempt::Conflict | Attempt::InProgress => Round::Again(Contended.into()),
            Attempt::Failed(failure) => Round::Again(failure),
        })
    }

    async fn order_once(
        &self,
        id: PaymentOrderId,
        command: &OrderCommand,
        now: Timestamp,
        unsettled: &mut Unsettled<PaymentOrder>,
    ) -> Result<Round<PaymentOrder>, ServiceError> {
        let loaded = self.store.load_order(id).await?;
        // Look up after the load: the loaded version may come from an attempt.
        if let Some(order) = self.applied(unsettled).await? {
            return Ok(Round::Done(order));
        }
        let loaded = loaded.ok_or(OrderRejection::NotFound)?;
        let stored = &loaded.order;
        if unsettled.drop_unless(|order| order.version > stored.version) {
            return Err(lost_race(stored).into());
        }
        let change = decide(stored, command)?;
        Self::check_seen(self.if_version, stored.version)?;
        let next = evolve(stored, &change);
        let write = Write::Order(Box::new(next.clone()));
        let commit = self.order_commit(write, &next, change.action, &loaded.subscriptions, now);
        Ok(match self.attempt(commit, next, unsettled).await? {
            Attempt::Done(order) => Round::Done(order),
            Attempt::Conflict | Attempt::InProgress if unsettled.is_empty() => {
                return Err(lost_race(stored).into());
            }
            // The conflict may be with an earlier attempt of this call; the next round loads what is
            // stored.
            Attempt::Conflict | Attempt::InProgress => Round::Again(Contended.into()),
            Attempt::Failed(failure) => Round::Again(failure),
        })
    }

    fn order_commit(
        &self,
        write: Write,
        order: &PaymentOrder,
        action: OrderAction,
        subscriptions: &[Subscription],
        now: Timestamp,
    ) -> Commit {
        let facts = OrderEvent {
            id: EventId::new(self.ids.uuid(now)),
            event_type: action.transition().event,
            at: now,
            order,
        };
        let event = EventRecord {
            id: facts.id,
            event_type: facts.event_type,
            at: now,
            actor: Actor::Platform,
            body: self.render.order_event(&facts),
        };
        let deliveries = self.deliveries(
            event.event_type,
            order.payer.head_office,
            subscriptions,
            now,
        );
        Commit::new(write, event, deliveries)
    }
}

const fn lost_race(order: &PaymentOrder) -> OrderRejection {
    OrderRejection::InvalidTransition {
        status: order.status,
    }
}
