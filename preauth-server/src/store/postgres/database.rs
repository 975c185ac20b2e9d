//! The shared statements on this database, by the store's own sessions.

use std::sync::Arc;

use async_trait::async_trait;
use preauth_core::operation::Operation;
use preauth_core::port::Unavailable;
use preauth_core::value::{ApiKeyId, ExtensionId, InvoiceId, OperationId};

use crate::audit_trail::AuditedRequest;
use crate::store::error::{Fault, WriteError};
use crate::store::set_aside::SetAside;
use crate::store::sql::audit_log::{leaving_row, with_row};
use crate::store::sql::{Database, Run};

use super::{PostgresStore, sequences};

#[async_trait]
impl Database for PostgresStore {
    fn set_aside(&self) -> &Arc<SetAside> {
        &self.set_aside
    }

    fn forget_key(&self, id: ApiKeyId) {
        self.exhausted.forget(id);
    }

    /// Each use is saved when it is counted.
    async fn save_key_uses(&self) -> Result<(), Unavailable> {
        Ok(())
    }

    async fn settle_first_batch(&self) {
        Self::settle_first_batch(self).await;
    }

    async fn next_extension(&self) -> Result<ExtensionId, Fault> {
        Self::read(self, &(), |connection, ()| {
            Box::pin(sequences::next_extension(connection))
        })
        .await
    }

    async fn next_invoice(&self) -> Result<InvoiceId, Fault> {
        Self::read(self, &(), |connection, ()| {
            Box::pin(sequences::next_invoice(connection))
        })
        .await
    }

    async fn operation(&self, id: OperationId) -> Result<Option<Operation>, Unavailable> {
        self.operations.ask(id).await.map_err(Fault::from)?
    }

    async fn read<I, T>(&self, input: &I, run: Run<I, T, Fault>) -> Result<T, Fault>
    where
        I: Sync,
        T: Send,
    {
        let input = (input, run);
        Self::read(self, &input, |connection, (input, run)| {
            run(connection, input)
        })
        .await
    }

    async fn read_snapshot<I, T>(&self, input: &I, run: Run<I, T, Fault>) -> Result<T, Fault>
    where
        I: Sync,
        T: Send,
    {
        let input = (input, run);
        Self::read_snapshot(self, &input, |connection, (input, run)| {
            run(connection, input)
        })
        .await
    }

    async fn write<I, T>(&self, input: I, run: Run<I, T, WriteError>) -> Result<T, WriteError>
    where
        I: Send + Sync + 'static,
        T: Send + 'static,
    {
        let audited = AuditedRequest::without_row();
        let input = (input, run, audited.clone());
        let written = Self::write(self, input, |connection, (input, run, audited)| {
            Box::pin(leaving_row(connection, input, *run, audited.as_deref()))
        });
        with_row(written.await, audited.as_deref())
    }

    async fn write_and_wake<I, T>(
        &self,
        input: I,
        run: Run<I, T, WriteError>,
    ) -> Result<T, WriteError>
    where
        I: Send + Sync + 'static,
        T: Send + 'static,
    {
        let audited = AuditedRequest::without_row();
        let input = (input, run, audited.clone());
        let written = Self::write_and_wake(self, input, |connection, (input, run, audited)| {
            Box::pin(leaving_row(connection, input, *run, audited.as_deref()))
        });
        with_row(written.await, audited.as_deref())
    }

    async fn write_relaxed<I, T>(
        &self,
        input: I,
        run: Run<I, T, WriteError>,
    ) -> Result<T, Unavailable>
    where
        I: Send + Sync + 'static,
        T: Send + 'static,
    {
        let input = (input, run);
        Self::write_relaxed(self, input, |connection, (input, run)| {
            run(connection, input)
        })
        .await
    }
}
