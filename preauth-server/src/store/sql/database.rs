//! The functions of a database that shared statements use.

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use preauth_core::operation::Operation;
use preauth_core::port::Unavailable;
use preauth_core::value::{ApiKeyId, ExtensionId, InvoiceId, OperationId};

use crate::store::error::{Fault, WriteError};
use crate::store::set_aside::SetAside;

use super::session::Session;

/// Work with a session and an input. It may be repeated from the beginning.
pub(in crate::store) type Run<I, T, E> =
    for<'c> fn(&'c mut dyn Session, &'c I) -> BoxFuture<'c, Result<T, E>>;

/// A database that executes the shared statements.
#[async_trait]
pub(in crate::store) trait Database: Send + Sync {
    /// The rows that this process has skipped.
    fn set_aside(&self) -> &Arc<SetAside>;

    /// Forgets what is remembered of a key that has changed.
    fn forget_key(&self, id: ApiKeyId);

    /// Saves when keys were used, where that is counted in memory.
    async fn save_key_uses(&self) -> Result<(), Unavailable>;

    /// Settles a batch of the deliveries of endpoints that were removed or resumed; the janitor settles
    /// the rest.
    async fn settle_first_batch(&self);

    /// Reserves an id.
    async fn next_extension(&self) -> Result<ExtensionId, Fault>;

    /// Reserves an id.
    async fn next_invoice(&self) -> Result<InvoiceId, Fault>;

    /// The operation with an id, if there is one.
    async fn operation(&self, id: OperationId) -> Result<Option<Operation>, Unavailable>;

    /// Reads by one statement.
    async fn read<I, T>(&self, input: &I, run: Run<I, T, Fault>) -> Result<T, Fault>
    where
        I: Sync,
        T: Send;

    /// Reads by several statements in one snapshot.
    async fn read_snapshot<I, T>(&self, input: &I, run: Run<I, T, Fault>) -> Result<T, Fault>
    where
        I: Sync,
        T: Send;

    /// Executes `run` as a durable write, in a transaction.
    async fn write<I, T>(&self, input: I, run: Run<I, T, WriteError>) -> Result<T, WriteError>
    where
        I: Send + Sync + 'static,
        T: Send + 'static;

    /// Like [`Database::write`]; then notifies the dispatchers that deliveries are due.
    async fn write_and_wake<I, T>(
        &self,
        input: I,
        run: Run<I, T, WriteError>,
    ) -> Result<T, WriteError>
    where
        I: Send + Sync + 'static,
        T: Send + 'static;

    /// Executes `run` as a write that a crash may undo.
    async fn write_relaxed<I, T>(
        &self,
        input: I,
        run: Run<I, T, WriteError>,
    ) -> Result<T, Unavailable>
    where
        I: Send + Sync + 'static,
        T: Send + 'static;
}
