//! Payment orders: the same loop on the smaller aggregate.

use chrono::NaiveDate;

use crate::operation::Actor;
use crate::payment_order::{
    OrderAction, OrderCommand, OrderRejection, PaymentOrder, decide, evolve,
};
use crate::port::{Commit, CommitError, EventRecord, OrderEvent, OrderTarget, Subscription, Write};
use crate::value::{
    EventId, Money, OperationId, PaymentOrderId, PaymentOrderStatus, Timestamp, Version,
};

use super::error::Contended;
use super::{ROUNDS, Service, ServiceError};

impl Service {
    /// Generates a payment order.
    pub async fn create_order(
        &self,
        target: &OrderTarget,
        amount: Money,
        scheduled_for: Option<NaiveDate>,
        operation: Option<OperationId>,
        now: Timestamp,
    ) -> Result<PaymentOrder, ServiceError> {
        let mut last = ServiceError::NotDone(Contended.into());
        for _ in 0..ROUNDS {
            let Some(loaded) = self.store.load_new_order(target).await? else {
                return Err(ServiceError::UnknownCompany);
            };
            let order = PaymentOrder {
                id: loaded.order,
                version: Version::INITIAL,
                payer: loaded.payer,
                supplier: loaded.supplier,
                amount,
                scheduled_for,
                operation,
                status: PaymentOrderStatus::Created,
                reason: None,
                created_at: now,
            };
            let write = Write::NewOrder(Box::new(order.clone()));
            let commit = self.order_commit(
                write,
                &order,
                OrderAction::Create,
                &loaded.subscriptions,
                now,
            );
            match self.store.commit(commit).await {
                Ok(()) => return Ok(order),
                Err(CommitError::Conflict) => {}
                Err(CommitError::NotDone(cause)) => last = ServiceError::NotDone(cause),
                Err(CommitError::Busy(cause)) => return Err(ServiceError::Busy(cause)),
                Err(CommitError::Unknown(cause)) => {
                    return match self.store.load_order(order.id).await {
                        Ok(Some(_)) => Ok(order),
                        Ok(None) | Err(_) => Err(ServiceError::Unknown(cause)),
                    };
                }
            }
        }
        Err(last)
    }

    /// Asks `command` of the payment order `id`; of concurrent commands exactly one wins.
    pub async fn order_command(
        &self,
        id: PaymentOrderId,
        command: &OrderCommand,
        now: Timestamp,
    ) -> Result<PaymentOrder, ServiceError> {
        let mut last = ServiceError::NotDone(Contended.into());
        for _ in 0..ROUNDS {
            let Some(loaded) = self.store.load_order(id).await? else {
                return Err(OrderRejection::NotFound.into());
            };
            let change = decide(&loaded.order, command)?;
            let next = evolve(&loaded.order, &change);
            let write = Write::Order(Box::new(next.clone()));
            let commit = self.order_commit(write, &next, change.action, &loaded.subscriptions, now);
            match self.store.commit(commit).await {
                Ok(()) => return Ok(next),
                Err(CommitError::Conflict) => {
                    let status = loaded.order.status;
                    return Err(OrderRejection::InvalidTransition { status }.into());
                }
                Err(CommitError::NotDone(cause)) => last = ServiceError::NotDone(cause),
                Err(CommitError::Busy(cause)) => return Err(ServiceError::Busy(cause)),
                Err(CommitError::Unknown(cause)) => return Err(ServiceError::Unknown(cause)),
            }
        }
        Err(last)
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
        Commit {
            write,
            event,
            deliveries,
            supplier: None,
            notice: None,
            reply: None,
            file: None,
        }
    }
}
