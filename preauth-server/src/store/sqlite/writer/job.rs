//! One write on its way through the queue.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use sqlx::SqliteConnection;
use thiserror::Error;
use tokio::sync::{Notify, oneshot};

use crate::fair::{QueueError, Queued};

use super::super::error::WriteError;
use super::{Durability, Run};

/// A write with its input, its caller, and, once it ran, its outcome.
pub(super) struct Job<I, T> {
    input: I,
    run: Run<I, T>,
    durability: Durability,
    wakes: Option<Arc<Notify>>,
    outcome: Option<Result<T, WriteError>>,
    caller: oneshot::Sender<Result<T, WriteError>>,
}

/// What the transaction must do after a job ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ran {
    /// Keep what it wrote.
    Keep,
    /// Undo what it wrote, and nothing else.
    Undo,
    /// Give the transaction up: after such an error SQLite may have rolled it back by itself.
    GiveUp,
    /// Give the connection up: the job broke off, perhaps in the middle of a statement.
    Broke,
}

#[derive(Debug, Error)]
#[error("the write panicked")]
struct Panicked;

/// A job of any type, as the task sees it.
pub(super) trait AnyJob: Send {
    fn durability(&self) -> Durability;

    /// Runs the job, anew if it ran before, and keeps the outcome.
    fn run<'j>(&'j mut self, connection: &'j mut SqliteConnection) -> BoxFuture<'j, Ran>;

    /// Whether nobody waits for the outcome.
    fn is_abandoned(&self) -> bool;

    /// Tells the caller the outcome. Nobody may be listening any more.
    fn answer(self: Box<Self>);

    /// Tells the caller an error in place of the outcome.
    fn fail(self: Box<Self>, error: WriteError);
}

impl Queued for Box<dyn AnyJob> {
    fn is_abandoned(&self) -> bool {
        (**self).is_abandoned()
    }

    fn refuse(self, reason: QueueError) {
        self.fail(reason.into());
    }
}

impl<I, T> Job<I, T> {
    pub(super) fn new(
        input: I,
        run: Run<I, T>,
        durability: Durability,
        wakes: Option<Arc<Notify>>,
        caller: oneshot::Sender<Result<T, WriteError>>,
    ) -> Self {
        Self {
            input,
            run,
            durability,
            wakes,
            outcome: None,
            caller,
        }
    }
}

impl<I, T> AnyJob for Job<I, T>
where
    I: Send + Sync,
    T: Send,
{
    fn durability(&self) -> Durability {
        self.durability
    }

    fn run<'j>(&'j mut self, connection: &'j mut SqliteConnection) -> BoxFuture<'j, Ran> {
        Box::pin(async move {
            let run = async { (self.run)(connection, &self.input).await };
            // A defect of one job must not take the task along, and with it every later write.
            let Ok(outcome) = AssertUnwindSafe(run).catch_unwind().await else {
                self.outcome = Some(Err(WriteError::NotDone(Box::new(Panicked))));
                return Ran::Broke;
            };
            let ran = match &outcome {
                Ok(_) => Ran::Keep,
                Err(WriteError::NotFound | WriteError::Conflict) => Ran::Undo,
                Err(WriteError::NotDone(_) | WriteError::Busy(_) | WriteError::Unknown(_)) => {
                    Ran::GiveUp
                }
            };
            self.outcome = Some(outcome);
            ran
        })
    }

    fn is_abandoned(&self) -> bool {
        self.caller.is_closed()
    }

    fn answer(self: Box<Self>) {
        let Some(outcome) = self.outcome else {
            return;
        };
        if let (Ok(_), Some(waiting)) = (&outcome, self.wakes) {
            waiting.notify_one();
        }
        let _ = self.caller.send(outcome);
    }

    fn fail(self: Box<Self>, error: WriteError) {
        let _ = self.caller.send(Err(error));
    }
}
