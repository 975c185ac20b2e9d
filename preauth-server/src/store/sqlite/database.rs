//! The shared statements on this database.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use preauth_core::operation::Operation;
use preauth_core::port::Unavailable;
use preauth_core::value::{ApiKeyId, ExtensionId, InvoiceId, OperationId};

use tokio::time::timeout;

use crate::audit_trail::AuditedRequest;
use crate::log::chain;
use crate::store::error::{Fault, WriteError, unavailable};
use crate::store::set_aside::SetAside;
use crate::store::sql::audit_log::{leaving_row, with_row};
use crate::store::sql::{Database, Run};

use super::SqliteStore;

/// Maximum time that a read of keys waits until their last uses are saved.
const SAVING: Duration = Duration::from_secs(1);

#[async_trait]
impl Database for SqliteStore {
    fn set_aside(&self) -> &Arc<SetAside> {
        &self.set_aside
    }

    /// Every write clears the cache of keys.
    fn forget_key(&self, _: ApiKeyId) {}

    async fn save_key_uses(&self) -> Result<(), Unavailable> {
        let (windows, writer) = (Arc::clone(&self.windows), Arc::clone(&self.writer));
        let saving = tokio::spawn(async move { windows.save(&writer).await });
        // After the time-out it goes on.
        if let Ok(Ok(Err(error))) = timeout(SAVING, saving).await {
            let error = chain(&error);
            tracing::warn!(
                error,
                "uses of keys were not saved; they are shown as last saved"
            );
        }
        Ok(())
    }

    async fn settle_first_batch(&self) {
        Self::settle_first_batch(self).await;
    }

    async fn next_extension(&self) -> Result<ExtensionId, Fault> {
        self.counters.next_extension()
    }

    async fn next_invoice(&self) -> Result<InvoiceId, Fault> {
        self.counters.next_invoice()
    }

    async fn operation(&self, id: OperationId) -> Result<Option<Operation>, Unavailable> {
        self.operations.ask(id).await.map_err(Fault::from)?
    }

    async fn read<I, T>(&self, input: &I, run: Run<I, T, Fault>) -> Result<T, Fault>
    where
        I: Sync,
        T: Send,
    {
        let mut reader = self.reader().await?;
        run(&mut *reader, input).await
    }

    async fn read_snapshot<I, T>(&self, input: &I, run: Run<I, T, Fault>) -> Result<T, Fault>
    where
        I: Sync,
        T: Send,
    {
        let mut snapshot = self.snapshot().await?;
        run(&mut *snapshot, input).await
    }

    async fn write<I, T>(&self, input: I, run: Run<I, T, WriteError>) -> Result<T, WriteError>
    where
        I: Send + Sync + 'static,
        T: Send + 'static,
    {
        let audited = AuditedRequest::without_row();
        let keys = self.keys.clearing();
        let written = self.writer.write_then(
            (input, run, audited.clone()),
            |connection, (input, run, audited)| {
                Box::pin(leaving_row(connection, input, *run, audited.as_deref()))
            },
            Box::new(move |_| drop(keys)),
        );
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
        let (keys, waiting) = (self.keys.clearing(), self.writer.waiting());
        let written = self.writer.write_then(
            (input, run, audited.clone()),
            |connection, (input, run, audited)| {
                Box::pin(leaving_row(connection, input, *run, audited.as_deref()))
            },
            Box::new(move |_| {
                drop(keys);
                waiting.notify_one();
            }),
        );
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
        let written = self
            .writer
            .write_relaxed(input, |connection, (input, run)| run(connection, input));
        written.await.map_err(unavailable)
    }
}
