//! Combines the reads of many callers into one statement, on a connection of its own.

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use preauth_core::port::Unavailable;
use sqlx::{Sqlite, SqliteConnection};

use crate::store::error::{Fault, unavailable_to_all};
use crate::store::grouping::{Limits, Serve};
use crate::store::idle_stack::IdleStack;

/// Maximum number of waiting reads, and of those per statement. The next group fills while one is
/// in progress.
pub(super) const LIMITS: Limits = Limits {
    queue: 2048,
    group: 128,
    groups: 1,
};

/// Reads the answers to all requests of a group, in their order. An unreadable one is an error for
/// its own caller alone.
type RunAll<I, T> = for<'c> fn(
    &'c mut SqliteConnection,
    &'c [I],
) -> BoxFuture<'c, Result<Vec<Result<T, Fault>>, Fault>>;

/// A read for many callers together.
pub(super) struct SharedRead<I: 'static, T: 'static> {
    readers: IdleStack<Sqlite>,
    run: RunAll<I, T>,
}

impl<I, T> SharedRead<I, T> {
    pub(super) const fn new(readers: IdleStack<Sqlite>, run: RunAll<I, T>) -> Self {
        Self { readers, run }
    }

    async fn read(&self, requests: &[I]) -> Result<Vec<Result<T, Fault>>, Fault> {
        let mut lent = self.readers.acquire().await?;
        let read = (self.run)(lent.connection()?, requests).await;
        lent.return_after(read)
    }
}

#[async_trait]
impl<I, T> Serve for SharedRead<I, T>
where
    I: Send + Sync,
    T: Send,
{
    type Request = I;
    type Answer = Result<T, Unavailable>;

    async fn serve(&self, requests: Vec<I>) -> Vec<Self::Answer> {
        match self.read(&requests).await {
            Ok(answers) => answers
                .into_iter()
                .map(|answer| answer.map_err(Unavailable::from))
                .collect(),
            Err(fault) => unavailable_to_all(requests.len(), fault),
        }
    }
}
