//! The shared statements on this database.

use std::sync::Arc;

use async_trait::async_trait;
use preauth_core::port::Unavailable;
use preauth_core::value::{ExtensionId, InvoiceId};

use crate::audit_trail::AuditedRequest;
use crate::store::error::{Fault, WriteError, unavailable};
use crate::store::exhausted::ExhaustedKeys;
use crate::store::set_aside::SetAside;
use crate::store::sql::audit_log::{leaving_row, with_row};
use crate::store::sql::{Database, Run};

use super::SqliteStore;

#[async_trait]
impl Database for SqliteStore {
    fn set_aside(&self) -> &Arc<SetAside> {
        &self.set_aside
    }

    fn exhausted(&self) -> &ExhaustedKeys {
        &self.exhausted
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
        let input = (input, run, audited.clone());
        let written = self
            .writer
            .write(input, |connection, (input, run, audited)| {
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
        let written = self
            .writer
            .write_and_wake(input, |connection, (input, run, audited)| {
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
        let written = self
            .writer
            .write_relaxed(input, |connection, (input, run)| run(connection, input));
        written.await.map_err(unavailable)
    }
}
