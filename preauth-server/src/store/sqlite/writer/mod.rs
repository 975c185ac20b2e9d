//! The one task that writes.
//!
//! Jobs are queued; the task takes those that are waiting, tenants in turn, runs them as one
//! transaction with a savepoint per job, commits once, and answers each job. One disk write serves
//! many callers, and a single caller is not delayed. A job that has begun is finished even if its
//! caller goes away.

mod job;
mod task;

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::thread;

use chrono::TimeDelta;
use futures_util::future::BoxFuture;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteConnectOptions;
use tokio::runtime::Handle;
use tokio::sync::{Mutex, Notify, oneshot};

use crate::fair::{self, QueueError, Refusals};
use crate::store::WriteQueue;
use crate::worker::LoopHealth;

use super::room::Room;
use crate::store::error::WriteError;
use job::{AnyJob, Job};
use task::Task;

/// Maximum number of tenants' waiting jobs, and of the service's own; further ones are refused.
const QUEUE_LIMIT: usize = 1024;
/// A group of writes takes milliseconds, or seconds on a failing disk.
const STALLS_AFTER: TimeDelta = TimeDelta::minutes(1);

/// The work of a job with its input, inside a transaction. It may be repeated from the beginning
/// when its transaction was rolled back because of another job.
pub(super) type Run<I, T> =
    for<'c> fn(&'c mut SqliteConnection, &'c I) -> BoxFuture<'c, Result<T, WriteError>>;

/// Work after a write that is durable, also if its caller has gone away.
pub(super) type AfterWrite<T> = Box<dyn FnOnce(&mut T) + Send>;

/// The queue of the writing task.
#[derive(Debug)]
pub(super) struct Writer {
    queue: fair::Sender<Box<dyn AnyJob>>,
    ended: Mutex<Option<oneshot::Receiver<()>>>,
    waiting: Arc<Notify>,
    health: Arc<LoopHealth>,
    room: Arc<Room>,
}

/// The durability of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Durability {
    /// It survives a power failure once it was answered.
    Durable,
    /// It survives the end of the process, but perhaps not a power failure.
    Relaxed,
}

impl Writer {
    /// Starts the task. It owns `lock` and releases it last, when the connection is closed.
    ///
    /// It has a thread of its own: it waits for each of some twenty statements of a group, and on the threads of the
    /// requests it would go on only behind all that are under way, so that an overload would stop it.
    pub(super) fn spawn(
        options: SqliteConnectOptions,
        connection: SqliteConnection,
        lock: File,
        waiting: Arc<Notify>,
    ) -> io::Result<Self> {
        let (queue, inbox) = fair::channel(QUEUE_LIMIT, task::GROUP_LIMIT);
        let health = Arc::new(LoopHealth::new("writer", STALLS_AFTER));
        let room = Arc::new(Room::default());
        let vitals = (Arc::clone(&health), Arc::clone(&room));
        let task = Task::new(options, connection, lock, inbox, vitals);
        let (runtime, (end, ended)) = (Handle::current(), oneshot::channel());
        thread::Builder::new()
            .name("writer".to_owned())
            .spawn(move || {
                runtime.block_on(task.run());
                let _ = end.send(());
            })?;
        Ok(Self {
            queue,
            ended: Mutex::new(Some(ended)),
            waiting,
            health,
            room,
        })
    }

    /// The number of waiting writes.
    pub(super) fn queue(&self) -> WriteQueue {
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let (length, limit) = self.queue.length_and_limit();
        WriteQueue {
            length: count(length),
            limit: count(limit),
        }
    }

    /// The number of writes that the queue refused so far.
    pub(super) fn refusals(&self) -> Refusals {
        self.queue.refusals()
    }

    /// The health of the task; a step is a group of writes, or an interval without any.
    pub(super) fn health(&self) -> Arc<LoopHealth> {
        Arc::clone(&self.health)
    }

    /// Whether the disk takes its writes.
    pub(super) fn room(&self) -> &Room {
        &self.room
    }

    /// Executes `run` as a durable write.
    pub(super) async fn write<I, T>(&self, input: I, run: Run<I, T>) -> Result<T, WriteError>
    where
        I: Send + Sync + 'static,
        T: Send + 'static,
    {
        self.submit(input, run, Durability::Durable, None).await
    }

    /// Like [`Writer::write`]; then calls `after`.
    pub(super) async fn write_then<I, T>(
        &self,
        input: I,
        run: Run<I, T>,
        after: AfterWrite<T>,
    ) -> Result<T, WriteError>
    where
        I: Send + Sync + 'static,
        T: Send + 'static,
    {
        self.submit(input, run, Durability::Durable, Some(after))
            .await
    }

    /// Is notified when deliveries are due.
    pub(super) fn waiting(&self) -> Arc<Notify> {
        Arc::clone(&self.waiting)
    }

    /// Executes `run` as a write that a power failure may undo.
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

    /// Finishes the accepted writes, then closes the connection.
    pub(super) async fn close(&self) {
        self.queue.close();
        if let Some(ended) = self.ended.lock().await.take() {
            // A task that panicked has ended as well.
            let _ = ended.await;
        }
    }

    async fn submit<I, T>(
        &self,
        input: I,
        run: Run<I, T>,
        durability: Durability,
        after: Option<AfterWrite<T>>,
    ) -> Result<T, WriteError>
    where
        I: Send + Sync + 'static,
        T: Send + 'static,
    {
        let (caller, answer) = oneshot::channel();
        let job = Job::new(input, run, durability, after, caller);
        let answer = self.queue.ask(Box::new(job), answer);
        // Without an answer it is unknown whether the commit was written.
        answer
            .await?
            .unwrap_or_else(|_| Err(QueueError::Lost.into()))
    }
}

#[cfg(test)]
mod tests;
