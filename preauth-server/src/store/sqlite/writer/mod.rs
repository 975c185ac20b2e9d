//! The one task that writes.
//!
//! Jobs queue up; the task takes whatever is there, runs it as one transaction with a savepoint per
//! job, commits once, and answers each job on its own. One write to disk serves many callers, and a
//! lone caller waits for nobody. A caller that goes away does not take its job along.

mod job;
mod task;

use std::fs::File;
use std::sync::Arc;

use chrono::TimeDelta;
use futures_util::future::BoxFuture;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteConnectOptions;
use tokio::sync::{Notify, mpsc, oneshot};

use crate::looping::LoopHealth;
use crate::store::WriteQueue;

use super::error::WriteError;
use crate::store::queue::QueueError;
use job::{AnyJob, Job};
use task::Task;

/// Jobs that may wait; the next one is refused.
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
    queue: mpsc::Sender<Message>,
    waiting: Arc<Notify>,
    health: Arc<LoopHealth>,
}

/// What the task is told.
enum Message {
    Job(Box<dyn AnyJob>),
    Close(oneshot::Sender<()>),
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
        let (queue, inbox) = mpsc::channel(QUEUE_LIMIT);
        let health = Arc::new(LoopHealth::new("writer", STALLS_AFTER));
        let task = Task::new(options, connection, lock, inbox, Arc::clone(&health));
        tokio::spawn(task.run());
        Self {
            queue,
            waiting,
            health,
        }
    }

    /// How many writes wait.
    pub(super) fn queue(&self) -> WriteQueue {
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let (limit, free) = (self.queue.max_capacity(), self.queue.capacity());
        WriteQueue {
            length: count(limit.saturating_sub(free)),
            limit: count(limit),
        }
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
        let (done, is_done) = oneshot::channel();
        if self.queue.send(Message::Close(done)).await.is_ok() {
            // An error means that the task is gone, which is what was wanted.
            let _ = is_done.await;
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
        match self.queue.try_send(Message::Job(Box::new(job))) {
            Ok(()) => {}
            Err(mpsc::error::TrySendError::Full(_)) => {
                return Err(WriteError::Busy(Box::new(QueueError::Full)));
            }
            Err(mpsc::error::TrySendError::Closed(_)) => {
                return Err(WriteError::NotDone(Box::new(QueueError::Closed)));
            }
        }
        // Without an answer the commit may or may not have come to pass.
        let lost = |_| WriteError::Unknown(Box::new(QueueError::Lost));
        answer.await.map_err(lost)?
    }
}

impl std::fmt::Debug for Message {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Job(_) => "Job",
            Self::Close(_) => "Close",
        })
    }
}

#[cfg(test)]
mod tests;
