//! The write side.

use async_trait::async_trait;

use crate::operation::{ExtensionStatus, OfferContext, Operation, Party, State};
use crate::payment_order::PaymentOrder;
use crate::port::{
    Commit, CommitError, LoadedOffer, LoadedOperation, LoadedOrder, OfferTarget, OrderTarget,
    Store, Subscription, Unavailable,
};
use crate::value::{
    CompanyId, DueDate, EventId, EventType, OperationId, PaymentOrderId, Timestamp,
};

use super::MemoryStore;
use super::tables::{Tables, slot_of};

#[async_trait]
impl Store for MemoryStore {
    async fn load_offer(&self, target: &OfferTarget) -> Result<Option<LoadedOffer>, Unavailable> {
        Ok(self.lock().load_offer(target))
    }

    async fn load_operation(
        &self,
        id: OperationId,
    ) -> Result<Option<LoadedOperation>, Unavailable> {
        Ok(self.lock().load_operation(id))
    }

    async fn load_overdue(
        &self,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<LoadedOperation>, Unavailable> {
        Ok(self.lock().load_overdue(now, limit))
    }

    async fn load_new_order(
        &self,
        target: &OrderTarget,
    ) -> Result<Option<LoadedOrder<PaymentOrderId>>, Unavailable> {
        Ok(self.lock().load_new_order(target))
    }

    async fn load_order(
        &self,
        id: PaymentOrderId,
    ) -> Result<Option<LoadedOrder<PaymentOrder>>, Unavailable> {
        Ok(self.lock().load_order(id))
    }

    async fn has_event(&self, id: EventId) -> Result<bool, Unavailable> {
        Ok(self.lock().event_ids.contains(&id))
    }

    async fn commit(&self, commit: Commit) -> Result<(), CommitError> {
        self.lock().commit(commit)
    }

    async fn commit_all(&self, commits: Vec<Commit>) -> Vec<Result<(), CommitError>> {
        let mut tables = self.lock();
        commits
            .into_iter()
            .map(|commit| tables.commit(commit))
            .collect()
    }
}

impl Tables {
    fn load_offer(&mut self, target: &OfferTarget) -> Option<LoadedOffer> {
        let payer = self.party(target.payer)?;
        let head_office = payer.head_office;
        let supplier = self.party_with(target.supplier);
        let holder = target.invoice_number.clone().and_then(|number| {
            self.holder_of(&(head_office, target.supplier, number))
                .cloned()
        });
        let reply = target
            .idempotency_key
            .clone()
            .and_then(|key| self.replies.get(&(head_office, key)).cloned());
        let subscriptions = self.subscriptions_of(&payer, supplier.as_ref());
        let context = OfferContext {
            supplier_is_blocked: self.blocked.contains(&(head_office, target.supplier)),
            credit: self.credits.get(&head_office).copied(),
            holder,
            id: OperationId::new(self.next_operation())?,
            payer,
            supplier,
        };
        Some(LoadedOffer {
            context,
            reply,
            subscriptions,
        })
    }

    fn load_operation(&self, id: OperationId) -> Option<LoadedOperation> {
        Some(self.loaded(self.operations.get(&id)?))
    }

    fn load_overdue(&self, now: Timestamp, limit: u32) -> Vec<LoadedOperation> {
        let operations = self.operations.values();
        let mut overdue: Vec<_> = operations.filter(|it| it.is_overdue(now)).collect();
        overdue.sort_by_key(|operation| (operation.expires_at, operation.id));
        overdue.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        overdue.into_iter().map(|it| self.loaded(it)).collect()
    }

    fn loaded(&self, operation: &Operation) -> LoadedOperation {
        LoadedOperation {
            operation: operation.clone(),
            holder: self.other_holder(operation).cloned(),
            reached: self.reached(operation),
            extended_to: self.extended_to(operation),
            subscriptions: self.subscriptions_of(&operation.payer, Some(&operation.supplier)),
        }
    }

    fn reached(&self, operation: &Operation) -> Option<EventType> {
        operation.closing()?;
        let mut events = self.histories.get(&operation.id)?.iter().rev();
        let reached = events.find(|event| {
            !matches!(
                event.event_type,
                EventType::AnticipationReproved | EventType::AnticipationReopened
            )
        });
        reached.map(|event| event.event_type)
    }

    fn extended_to(&self, operation: &Operation) -> Option<DueDate> {
        let State::ToBill = operation.state else {
            return None;
        };
        let mut extensions = self.extensions.values().rev();
        let last = extensions.find(|(id, record)| {
            *id == operation.id && record.status == ExtensionStatus::Concluded
        });
        last.map(|(_, record)| record.extension.new_due_date)
    }

    fn other_holder(&self, operation: &Operation) -> Option<&Operation> {
        let holder = self.holder_of(&slot_of(operation)?)?;
        (holder.id != operation.id).then_some(holder)
    }

    fn load_new_order(&mut self, target: &OrderTarget) -> Option<LoadedOrder<PaymentOrderId>> {
        let payer = self.party(target.payer)?;
        let supplier = self.party_with(target.supplier)?;
        Some(LoadedOrder {
            order: PaymentOrderId::new(self.next_order())?,
            subscriptions: self.subscriptions_of(&payer, None),
            payer,
            supplier,
        })
    }

    fn load_order(&self, id: PaymentOrderId) -> Option<LoadedOrder<PaymentOrder>> {
        let order = self.orders.get(&id)?;
        Some(LoadedOrder {
            order: order.clone(),
            payer: order.payer.clone(),
            supplier: order.supplier.clone(),
            subscriptions: self.subscriptions_of(&order.payer, None),
        })
    }

    fn subscriptions_of(&self, payer: &Party, supplier: Option<&Party>) -> Vec<Subscription> {
        let mut head_offices: Vec<CompanyId> = vec![payer.head_office];
        head_offices.extend(supplier.map(|supplier| supplier.head_office));
        self.deliveries.subscriptions(&head_offices)
    }
}
