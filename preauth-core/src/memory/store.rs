//! The write side.

use async_trait::async_trait;

use crate::access::OperatorIdentity;
use crate::operation::{ExtensionStatus, OfferContext, Operation, Party, State};
use crate::payment_order::{OtherOrder, PaymentOrder};
use crate::port::{
    ActingOperator, Commit, CommitError, HistoryEntry, LoadedNewOrder, LoadedOffer,
    LoadedOperation, LoadedOrder, OfferTarget, OrderTarget, PlatformReply, Store, Subscription,
    Unavailable,
};
use crate::value::{
    CompanyId, DueDate, EventId, EventType, IdempotencyKey, OperationId, PaymentOrderId,
    PaymentOrderStatus, Timestamp,
};

use super::MemoryStore;
use super::outbox::Handed;
use super::tables::{Tables, slot, slot_of};

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
    ) -> Result<Option<LoadedNewOrder>, Unavailable> {
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

    async fn load_platform_reply(
        &self,
        key: &IdempotencyKey,
    ) -> Result<Option<PlatformReply>, Unavailable> {
        Ok(self.lock().platform_replies.get(key).cloned())
    }

    async fn commit(&self, commit: Commit) -> Result<(), CommitError> {
        let host_now = (self.clock)();
        let handed = self.lock().commit(commit, host_now)?;
        hand_over(handed);
        Ok(())
    }

    async fn commit_all(&self, commits: Vec<Commit>) -> Vec<Result<(), CommitError>> {
        let host_now = (self.clock)();
        let done: Vec<_> = {
            let mut tables = self.lock();
            let commits = commits.into_iter();
            commits
                .map(|commit| tables.commit(commit, host_now))
                .collect()
        };
        done.into_iter().map(|done| done.map(hand_over)).collect()
    }
}

/// Called after the lock is released, because the receiver of a delivery may use the host at once.
fn hand_over(handed: Vec<Handed>) {
    for (room, leased) in handed {
        room.take(leased);
    }
}

impl Tables {
    fn load_offer(&mut self, target: &OfferTarget) -> Option<LoadedOffer> {
        let payer = self.party(target.payer)?;
        let head_office = payer.head_office;
        let supplier = self.known_supplier(target.supplier, head_office);
        let number = target.invoice_number.as_ref();
        let slot = number.map(|number| slot(head_office, target.supplier, number));
        let holder = slot
            .and_then(|slot| self.holder_of(&slot))
            .map(|holder| self.present(holder));
        let reply = target
            .idempotency_key
            .clone()
            .and_then(|key| self.replies.get(&(head_office, key)).cloned());
        let subscriptions = self.subscriptions_of(&payer, supplier.party());
        let context = OfferContext {
            supplier_is_of_group: self.has_entity(head_office, target.supplier.root()),
            supplier_is_blocked: self.blocks(head_office, target.supplier.root()),
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
        let operation = self.present(operation);
        let holder = self.other_holder(&operation);
        LoadedOperation {
            holder: holder.map(|holder| self.present(holder)),
            reached: self.reached(&operation),
            extended_to: self.extended_to(&operation),
            released_by: self.released_by(&operation),
            subscriptions: self.subscriptions_of(&operation.payer, Some(&operation.supplier)),
            operation,
        }
    }

    fn reached(&self, operation: &Operation) -> Option<EventType> {
        operation.closing()?;
        let events = self.histories.get(&operation.id)?.iter().rev();
        let mut types = events.filter_map(|event| event.event_type.known().copied());
        types.find(|event_type| {
            !matches!(
                event_type,
                EventType::AnticipationReproved | EventType::AnticipationReopened
            )
        })
    }

    fn extended_to(&self, operation: &Operation) -> Option<DueDate> {
        let State::ToBill = operation.state else {
            return None;
        };
        let extensions = self.extensions.values();
        let concluded = extensions.filter(|(id, record)| {
            *id == operation.id && record.status == ExtensionStatus::Concluded
        });
        let due_dates = concluded.map(|(_, record)| record.extension.new_due_date);
        due_dates.max()
    }

    fn released_by(&self, operation: &Operation) -> Option<OperatorIdentity> {
        let State::ToPay = operation.state else {
            return None;
        };
        let mut newest_first = self.histories.get(&operation.id)?.iter().rev();
        let release = newest_first
            .find(|entry| entry.event_type == EventType::AnticipationAnalysisApproved)?;
        release.operator.as_ref().map(ActingOperator::identity)
    }

    fn other_holder(&self, operation: &Operation) -> Option<&Operation> {
        let holder = self.holder_of(&slot_of(operation)?)?;
        (holder.id != operation.id).then_some(holder)
    }

    fn load_new_order(&mut self, target: &OrderTarget) -> Option<LoadedNewOrder> {
        let payer = self.party(target.payer)?;
        let supplier = self.party_with(target.supplier)?;
        let operation = target.operation;
        Some(LoadedNewOrder {
            order: PaymentOrderId::new(self.next_order())?,
            subscriptions: self.subscriptions_of(&payer, None),
            payer,
            supplier,
            others: operation.map_or_else(Vec::new, |it| self.orders_of(it)),
            current: operation.and_then(|it| self.current_orders.get(&it).copied()),
        })
    }

    /// The orders of an operation that were neither canceled nor reproved.
    pub(super) fn orders_of(&self, operation: OperationId) -> Vec<OtherOrder> {
        let orders = self.orders.values().rev();
        let orders = orders.filter(|order| {
            order.operation == Some(operation)
                && !matches!(
                    order.status,
                    PaymentOrderStatus::Canceled | PaymentOrderStatus::Reproved
                )
        });
        orders
            .map(|order| OtherOrder {
                id: order.id,
                returned_at: self.returned_after(operation, order.id),
            })
            .collect()
    }

    /// When the operation's payout was first returned after an order of it was paid. A return each is needed for the
    /// orders that were paid before: after a clock was set back their returns, too, lie after its payment.
    fn returned_after(&self, operation: OperationId, order: PaymentOrderId) -> Option<Timestamp> {
        let moments =
            |history: Option<&Vec<HistoryEntry>>, event_type: EventType| -> Vec<Timestamp> {
                let entries = history.into_iter().flatten();
                let of_type = entries.filter(|entry| entry.event_type == event_type);
                of_type.map(|entry| entry.at).collect()
            };
        let paid = moments(
            self.order_histories.get(&order),
            EventType::PaymentOrderPaid,
        );
        let paid_at = *paid.first()?;
        let paid_so_far = self.orders.values().filter(|it| {
            it.operation == Some(operation)
                && it.status == PaymentOrderStatus::Paid
                && it.id <= order
        });
        let returned = moments(
            self.histories.get(&operation),
            EventType::AnticipationPayoutReturned,
        );
        if returned.len() < paid_so_far.count() {
            return None;
        }
        returned.into_iter().filter(|at| *at >= paid_at).min()
    }

    fn load_order(&self, id: PaymentOrderId) -> Option<LoadedOrder<PaymentOrder>> {
        let order = self.present_order(self.orders.get(&id)?);
        Some(LoadedOrder {
            payer: order.payer.clone(),
            supplier: order.supplier.clone(),
            subscriptions: self.subscriptions_of(&order.payer, None),
            order,
        })
    }

    pub(super) fn present_order(&self, order: &PaymentOrder) -> PaymentOrder {
        let mut shown = order.clone();
        self.refresh(&mut shown.payer);
        self.refresh(&mut shown.supplier);
        shown
    }

    fn subscriptions_of(&self, payer: &Party, supplier: Option<&Party>) -> Vec<Subscription> {
        let mut head_offices: Vec<CompanyId> = vec![payer.head_office];
        head_offices.extend(supplier.map(|supplier| supplier.head_office));
        self.deliveries.subscriptions(&head_offices)
    }
}
