//! The one task that writes.
//!
//! Jobs queue up; the task takes whatever is there, tenants in turn, runs it as one transaction with a
//! savepoint per job, commits once, and answers each job on its own. One write to disk serves many
//! callers, and a lone caller waits for nobody. A job that was begun is finished without its caller, too.

mod job;
mod task;

use std::fs::File;
use std::sync::Arc;

use chrono::TimeDelta;
use futures_util::future::BoxFuture;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteConnectOptions;
use tokio::sync::{Mutex, Notify, oneshot};
use tokio::task::JoinHandle;

use crate::fair::{self, QueueError, Refusals};
use crate::store::WriteQueue;
use crate::worker::LoopHealth;

use super::error::WriteError;
use job::{AnyJob, Job};
use task::Task;

/// Jobs of tenants that may wait, and as many of the service's own; what is beyond that is refused.
const QUEUE_LIMIT: usize = 1024;
/// A group of writes takes milliseconds, on a disk in trouble seconds.
const STALLS_AFTER: TimeDelta = TimeDelta::minutes(1);

/// What a job does with its input, inside a transaction. It may be done again from the beginning
/// when its transaction was rolled back on account of another job.
pub(super) type Run<I, T> =
    for<'c> fn(&'c mut SqliteConnection, &'c I) -> BoxFuture<'c, Result<T, WriteError>>;

/// The way to the writing task.
#[derive(Debug)]
pub(super) struct Writer {
    queue: fair::Sender<Box<dyn AnyJob>>,
    task: Mutex<Option<JoinHandle<()>>>,
    waiting: Arc<Notify>,
    health: Arc<LoopHealth>,
}

/// How long a write must last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Durability {
    /// Once answered it survives a power failure.
    Durable,
    /// It survives the end of the process, but perhaps not a power failure.
    Relaxed,
}

impl Writer {
    /// Starts the task. It owns `lock` and lets go of it last, when the connection is closed.
    pub(super) fn spawn(
        options: SqliteConnectOptions,
        connection: SqliteConnection,
        lock: File,
        waiting: Arc<Notify>,
    ) -> Self {
        let (queue, inbox) = fair::channel(QUEUE_LIMIT);
        let health = Arc::new(LoopHealth::new("writer", STALLS_AFTER));
        let task = Task::new(options, connection, lock, inbox, Arc::clone(&health));
        Self {
            queue,
            task: Mutex::new(Some(tokio::spawn(task.run()))),
            waiting,
            health,
        }
    }

    /// How many writes wait.
    pub(super) fn queue(&self) -> WriteQueue {
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let (length, limit) = self.queue.length_and_limit();
        WriteQueue {
            length: count(length),
            limit: count(limit),
        }
    }

    /// How many writes the queue refused so far.
    pub(super) fn refusals(&self) -> Refusals {
        self.queue.refusals()
    }

    /// How the task fares; a step is a group of writes, or a while without any.
    pub(super) fn health(&self) -> Arc<LoopHealth> {
        Arc::clone(&self.health)
    }

    /// Does `run` and makes it last.
    pub(super) async fn write<I, T>(&self, input: I, run: Run<I, T>) -> Result<T, WriteError>
    where
        I: Send + Sync + 'static,
        T: Send + 'static,
    {
        self.submit(input, run, Durability::Durable, None).await
    }

    /// Like [`Writer::write`]; afterwards tells the dispatcher that deliveries are due.
    pub(super) async fn write_and_wake<I, T>(
        &self,
        input: I,
        run: Run<I, T>,
    ) -> Result<T, WriteError>
    where
        I: Send + Sync + 'static,
        T: Send + 'static,
    {
        let wakes = Some(Arc::clone(&self.waiting));
        self.submit(input, run, Durability::Durable, wakes).await
    }

    /// Does `run`, which nobody misses much if the power fails now.
    pub(super) async fn write_relaxed<I, T>(
        &self,
        input: I,
        run: Run<I, T>,
    ) -> Result<T, WriteError>
    where
        I: Send + Sync + 'static,
        T: Send + 'static,
    {
        self.submit(input, run, Durability::Relaxed, None).await
    }

    /// Has everything written that was accepted, then closes the connection.
    pub(super) async fn close(&self) {
        self.queue.close();
        if let Some(task) = self.task.lock().await.take() {
            // A task that panicked has ended, too.
            let _ = task.await;
        }
    }

    async fn submit<I, T>(
        &self,
        input: I,
        run: Run<I, T>,
        durability: Durability,
        wakes: Option<Arc<Notify>>,
    ) -> Result<T, WriteError>
    where
        I: Send + Sync + 'static,
        T: Send + 'static,
    {
        let (caller, answer) = oneshot::channel();
        let job = Job::new(input, run, durability, wakes, caller);
        let answer = self.queue.ask(Box::new(job), answer);
        // Without an answer the commit may or may not have come to pass.
        answer
            .await?
            .unwrap_or_else(|_| Err(QueueError::Lost.into()))
    }
}

#[cfg(test)]
mod tests;
