//! The write side, as core asks for it.

use async_trait::async_trait;
use preauth_core::operation::{KnownSupplier, OfferContext};
use preauth_core::payment_order::PaymentOrder;
use preauth_core::port::{
    Commit, CommitError, LoadedNewOrder, LoadedOffer, LoadedOperation, LoadedOrder, OfferTarget,
    OrderTarget, PlatformReply, Store, Unavailable,
};
use preauth_core::value::{EventId, IdempotencyKey, OperationId, PaymentOrderId, Timestamp};

use super::Ledger;

#[async_trait]
impl Store for Ledger {
    async fn load_offer(&self, target: &OfferTarget) -> Result<Option<LoadedOffer>, Unavailable> {
        let mut books = self.books();
        books.last_id = books.last_id.saturating_add(1);
        let Some(id) =
            OperationId::new(books.last_id).filter(|_| target.payer == self.payer.company)
        else {
            return Ok(None);
        };
        let context = OfferContext {
            payer: self.payer.clone(),
            // Known suppliers of this company; others are invited.
            supplier: books
                .suppliers
                .get(&target.supplier)
                .cloned()
                .map_or(KnownSupplier::Unknown, KnownSupplier::Invited),
            supplier_is_of_group: target.supplier.root() == self.payer.cnpj.root(),
            supplier_is_blocked: false,
            credit: Some(self.credit),
            holder: books.holder(target.supplier, target.invoice_number.as_ref(), id),
            id,
        };
        Ok(Some(LoadedOffer {
            context,
            reply: None,
            subscriptions: Vec::new(),
        }))
    }

    async fn load_operation(
        &self,
        id: OperationId,
    ) -> Result<Option<LoadedOperation>, Unavailable> {
        let books = self.books();
        Ok(books.operations.get(&id).map(|it| books.loaded(it)))
    }

    async fn load_overdue(
        &self,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<LoadedOperation>, Unavailable> {
        let books = self.books();
        Ok(books
            .overdue(now, limit)
            .map(|it| books.loaded(it))
            .collect())
    }

    async fn load_new_order(&self, _: &OrderTarget) -> Result<Option<LoadedNewOrder>, Unavailable> {
        Ok(None)
    }

    async fn load_order(
        &self,
        _: PaymentOrderId,
    ) -> Result<Option<LoadedOrder<PaymentOrder>>, Unavailable> {
        Ok(None)
    }

    async fn has_event(&self, id: EventId) -> Result<bool, Unavailable> {
        Ok(self.books().events.iter().any(|(_, event)| event.id == id))
    }

    async fn load_platform_reply(
        &self,
        _: &IdempotencyKey,
    ) -> Result<Option<PlatformReply>, Unavailable> {
        Ok(None)
    }

    async fn commit(&self, commit: Commit) -> Result<(), CommitError> {
        self.books().commit(commit)
    }

    async fn commit_all(&self, commits: Vec<Commit>) -> Vec<Result<(), CommitError>> {
        let mut books = self.books();
        commits
            .into_iter()
            .map(|commit| books.commit(commit))
            .collect()
    }
}
