//! The planted defects of the write side; without one, the database unchanged.

use std::collections::BTreeSet;

use preauth_core::operation::{InvoiceAmounts, Operation};
use preauth_core::port::{
    Commit, CommitError, Filter, LoadedOffer, LoadedOperation, NewReply, OfferTarget,
    OperationEvent, OrderTarget, PageRequest, Render, ReplyScope, Unavailable, Viewer, Write,
};
use preauth_core::value::{EventType, InvoiceNumber, Money, OperationId, Timestamp};
use preauth_server::http::WireRender;

use crate::defect::Defect;
use crate::ground::Ground;

use super::{Database, lost};

/// Separates an invoice's number from a suffix that makes it unique.
const DISGUISE: char = '~';

impl Database {
    pub(super) async fn load_offer(
        &self,
        ground: &Ground,
        target: &OfferTarget,
    ) -> Result<Option<LoadedOffer>, Unavailable> {
        let mut loaded = ground.store.load_offer(target).await?;
        if let Some(loaded) = &mut loaded {
            if self.has(Defect::ReplayRenderedAnew)
                && let Some(reply) = &mut loaded.reply
                && let Some(now) = ground
                    .queries
                    .find(Viewer::Platform, reply.operation)
                    .await?
            {
                reply.body = WireRender.reply(&now);
            }
            if self.has(Defect::DuplicateUnconstrained) {
                loaded.context.holder = self
                    .looked_up(ground, target.invoice_number.as_ref())
                    .await?;
            }
        }
        Ok(loaded)
    }

    pub(crate) async fn load_operation(
        &self,
        ground: &Ground,
        id: OperationId,
    ) -> Result<Option<LoadedOperation>, Unavailable> {
        let mut loaded = ground.store.load_operation(id).await?;
        if let Some(loaded) = &mut loaded
            && self.has(Defect::DuplicateUnconstrained)
        {
            loaded.operation = undisguised(loaded.operation.clone());
            let holder = self.looked_up(ground, loaded.operation.invoice.number.as_ref());
            loaded.holder = holder.await?.filter(|holder| holder.id != id);
        }
        Ok(loaded)
    }

    pub(super) async fn load_overdue(
        &self,
        ground: &Ground,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<LoadedOperation>, Unavailable> {
        let mut overdue = ground.store.load_overdue(now, limit).await?;
        if self.has(Defect::DuplicateUnconstrained) {
            for loaded in &mut overdue {
                loaded.operation = undisguised(loaded.operation.clone());
            }
        }
        Ok(overdue)
    }

    /// The holder of an invoice, found by a query instead of the index.
    async fn looked_up(
        &self,
        ground: &Ground,
        number: Option<&InvoiceNumber>,
    ) -> Result<Option<Operation>, Unavailable> {
        let everything = PageRequest {
            page: 1,
            limit: 100,
        };
        let page = ground
            .queries
            .list(Viewer::Platform, &Filter::default(), everything)
            .await?;
        let mut operations = page.operations.into_iter().map(undisguised);
        Ok(operations.find(|operation| {
            let held = operation
                .invoice
                .number
                .as_ref()
                .map(InvoiceNumber::compared);
            operation.status().is_in_progress() && held == number.map(InvoiceNumber::compared)
        }))
    }

    /// The defects of a service that asks for another commit than it should.
    pub(super) fn mistake(&self, commit: &mut Commit) {
        if self.has(Defect::MailForgotten) {
            commit.mail = None;
        }
        if self.has(Defect::AmountChanged)
            && let Write::NewOperation(operation) = &mut commit.write
        {
            let amounts = operation.invoice.amounts;
            let more = Money::from_cents(amounts.amount().cents() + 1).unwrap();
            operation.invoice.amounts =
                InvoiceAmounts::from_cents(more, amounts.withheld_tax()).unwrap();
        }
    }

    pub(super) async fn write(
        &self,
        ground: &Ground,
        mut commit: Commit,
    ) -> Result<(), CommitError> {
        if self.has(Defect::CancelForgotten)
            && commit.event.event_type == EventType::PreAuthorizationRevoked
        {
            return Ok(());
        }
        if self.has(Defect::ReplyNotStored) {
            commit.reply = None;
        }
        if self.has(Defect::DeliveryLeftOut) && self.faults.draw(|random| random.chance(100)) {
            commit.deliveries.pop();
        }
        if self.has(Defect::DuplicateUnconstrained) {
            disguise(&mut commit.write);
        }
        if self.has(Defect::StaleBody) {
            commit.event.body = commit.event.body.replace("TO_APPROVE", "IN_PRE_AUTH");
        }
        let is_platforms = |reply: &NewReply| reply.scope == ReplyScope::Platform;
        if self.has(Defect::PlatformReplyNotStored)
            && commit.reply.as_ref().is_some_and(is_platforms)
        {
            commit.reply = None;
        }
        if matches!(commit.write, Write::EventOnly { .. })
            && self.forgets(ground, commit.reply.as_ref()).await
        {
            commit.reply = None;
        }
        if self.has(Defect::OrderUnconstrained) {
            forget_standing(ground, &mut commit.write).await?;
        }
        if let Some(reply) = &mut commit.reply
            && self.has(Defect::ReplyOfAnotherState)
        {
            reply.body = reply.body.replace("IN_PRE_AUTH", "REPROVED");
        }
        let overwrites = match commit.event.event_type {
            EventType::PaymentOrderPaid | EventType::PaymentOrderCanceled => {
                self.has(Defect::OrderOverwrites)
            }
            EventType::PreAuthorizationRevoked => self.has(Defect::CancelOverwrites),
            EventType::PreAuthorizationExpired => self.has(Defect::ExpiryOverwrites),
            _ => false,
        };
        if overwrites {
            forget_version(ground, &mut commit.write).await?;
        }
        if !self.has(Defect::HandedOverWhilePaused) {
            return ground.store.commit(commit).await;
        }
        let (paused, now) = (self.paused.lock().unwrap().clone(), self.chronicle.now());
        for it in &paused {
            ground.desk.resume(*it, now).await;
        }
        let done = ground.store.commit(commit).await;
        for it in &paused {
            ground.desk.pause(*it, now).await;
        }
        done
    }

    /// The outcome of a commit whose answer is lost.
    pub(super) fn unknown_outcome(&self) -> CommitError {
        if self.has(Defect::UnknownCalledNotDone) {
            CommitError::NotDone(lost())
        } else {
            CommitError::Unknown(lost())
        }
    }

    /// The defect that creates another operation at each retry.
    pub(super) async fn take_id_anew(&self, ground: &Ground, commit: &mut Commit) {
        if !self.has(Defect::IdTakenAnew) {
            return;
        }
        let Write::NewOperation(operation) = &mut commit.write else {
            return;
        };
        if self.begun.lock().unwrap().insert(operation.id) {
            return;
        }
        let target = OfferTarget {
            payer: operation.payer.company,
            supplier: operation.supplier.cnpj,
            invoice_number: None,
            idempotency_key: None,
        };
        let loaded = ground.store.load_offer(&target).await.unwrap().unwrap();
        operation.id = loaded.context.id;
        commit.event.body = WireRender.operation_event(&OperationEvent {
            id: commit.event.id,
            event_type: commit.event.event_type,
            at: commit.event.at,
            operation,
            stage: None,
            reason: None,
            extension: None,
        });
        if let Some(reply) = &mut commit.reply {
            reply.body = WireRender.reply(operation);
        }
    }

    /// The defect that sends without waiting for the commit's outcome.
    pub(super) fn send_too_early(&self, commit: &Commit) {
        if !self.has(Defect::SentBeforeCommit) {
            return;
        }
        let endpoints: BTreeSet<_> = commit.deliveries.iter().map(|it| it.endpoint).collect();
        for endpoint in endpoints {
            self.receivers.take(endpoint, &commit.event);
        }
    }
}

/// Makes a write the next version of the stored record, ignoring concurrent changes.
async fn forget_version(ground: &Ground, write: &mut Write) -> Result<(), CommitError> {
    let not_done = |error: Unavailable| CommitError::NotDone(error.cause);
    match write {
        Write::Operation { operation, .. } => {
            let stored = ground.queries.find(Viewer::Platform, operation.id).await;
            if let Some(stored) = stored.map_err(not_done)? {
                operation.version = stored.version.next();
            }
        }
        Write::Order(order) => {
            let stored = ground.store.load_order(order.id).await;
            if let Some(stored) = stored.map_err(not_done)? {
                order.version = stored.order.version.next();
            }
        }
        Write::NewOperation(_)
        | Write::NewOrder { .. }
        | Write::NewInvoice(_)
        | Write::EventOnly { .. } => {}
    }
    Ok(())
}

/// Makes a new order replace its operation's existing order.
async fn forget_standing(ground: &Ground, write: &mut Write) -> Result<(), CommitError> {
    if let Write::NewOrder { order, instead_of } = write {
        let target = OrderTarget {
            payer: order.payer.company,
            supplier: order.supplier.cnpj,
            operation: order.operation,
        };
        let loaded = ground.store.load_new_order(&target).await;
        let loaded = loaded.map_err(|error| CommitError::NotDone(error.cause))?;
        *instead_of = loaded.and_then(|loaded| loaded.current);
    }
    Ok(())
}

/// Makes an invoice's number unique, so that no index finds it held.
fn disguise(write: &mut Write) {
    if let Write::NewOperation(operation) | Write::Operation { operation, .. } = write
        && let Some(number) = &operation.invoice.number
    {
        let disguised = format!("{number}{DISGUISE}{}", operation.id);
        operation.invoice.number = InvoiceNumber::parse(&disguised).ok();
    }
}

pub(super) fn undisguised(mut operation: Operation) -> Operation {
    let number = operation.invoice.number.as_ref();
    if let Some((plain, _)) = number.and_then(|number| number.as_str().split_once(DISGUISE)) {
        operation.invoice.number = InvoiceNumber::parse(plain).ok();
    }
    operation
}
