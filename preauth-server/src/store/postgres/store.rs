//! The write side: loads in one snapshot, commits in one transaction.

use async_trait::async_trait;
use preauth_core::payment_order::PaymentOrder;
use preauth_core::port::{
    Commit, CommitError, LoadedOffer, LoadedOperation, LoadedOrder, OfferTarget, OrderTarget,
    Store, Unavailable,
};
use preauth_core::value::{OperationId, PaymentOrderId};

use super::{PostgresStore, commit, load};

#[async_trait]
impl Store for PostgresStore {
    async fn load_offer(&self, target: &OfferTarget) -> Result<Option<LoadedOffer>, Unavailable> {
        let loaded = self.read_snapshot(target, |connection, target| {
            Box::pin(load::offer(connection, target))
        });
        Ok(loaded.await?)
    }

    async fn load_operation(
        &self,
        id: OperationId,
    ) -> Result<Option<LoadedOperation>, Unavailable> {
        let loaded = self.read_snapshot(&id, |connection, id| {
            Box::pin(load::operation(connection, *id))
        });
        Ok(loaded.await?)
    }

    async fn load_new_order(
        &self,
        target: &OrderTarget,
    ) -> Result<Option<LoadedOrder<PaymentOrderId>>, Unavailable> {
        let loaded = self.read_snapshot(target, |connection, target| {
            Box::pin(load::new_order(connection, target))
        });
        Ok(loaded.await?)
    }

    async fn load_order(
        &self,
        id: PaymentOrderId,
    ) -> Result<Option<LoadedOrder<PaymentOrder>>, Unavailable> {
        let loaded =
            self.read_snapshot(&id, |connection, id| Box::pin(load::order(connection, *id)));
        Ok(loaded.await?)
    }

    async fn commit(&self, commit: Commit) -> Result<(), CommitError> {
        let written = if commit.deliveries.is_empty() {
            self.write(commit, |connection, commit| {
                Box::pin(commit::write(connection, commit))
            })
            .await
        } else {
            self.write_and_wake(commit, |connection, commit| {
                Box::pin(commit::write(connection, commit))
            })
            .await
        };
        Ok(written?)
    }
}
