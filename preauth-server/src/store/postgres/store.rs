//! The write side: loads in one snapshot, commits in one transaction.

use async_trait::async_trait;
use preauth_core::payment_order::PaymentOrder;
use preauth_core::port::{
    Commit, CommitError, LoadedOffer, LoadedOperation, LoadedOrder, OfferTarget, OrderTarget,
    Store, Unavailable,
};
use preauth_core::value::{ExtensionId, OperationId, PaymentOrderId};
use sqlx::PgConnection;

use crate::store::Numbers;

use super::error::Fault;
use super::rows::Columns;
use super::{PostgresStore, commit, load, sequences};

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

#[async_trait]
impl Numbers for PostgresStore {
    async fn reserve_extension(&self) -> Result<ExtensionId, Unavailable> {
        let reserved = self.read(&(), |connection, ()| {
            Box::pin(sequences::next_extension(connection))
        });
        Ok(reserved.await?)
    }

    async fn operation_of_extension(
        &self,
        id: ExtensionId,
    ) -> Result<Option<OperationId>, Unavailable> {
        let found = self.read(&id, |connection, id| {
            Box::pin(operation_of_extension(connection, *id))
        });
        Ok(found.await?)
    }
}

async fn operation_of_extension(
    connection: &mut PgConnection,
    id: ExtensionId,
) -> Result<Option<OperationId>, Fault> {
    let row = sqlx::query("SELECT operation_id FROM extensions WHERE id = $1")
        .bind(id.get())
        .fetch_optional(connection)
        .await?;
    row.map(|row| Columns::of("extensions", &row).number("operation_id", OperationId::new))
        .transpose()
}
