//! A queued write.

use std::any::Any;
use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use preauth_core::port::Commit;
use sqlx::SqliteConnection;
use thiserror::Error;
use tokio::sync::oneshot;

use crate::fair::{QueueError, Queued};
use crate::store::error::WriteError;

use super::super::commit::{self, InsertedDeliveries};
use super::{AfterWrite, Durability, Run};

/// A write with its input, its caller, and, after it ran, its outcome.
pub(super) struct Job<I, T> {
    input: I,
    run: Run<I, T>,
    durability: Durability,
    after: Option<AfterWrite<T>>,
    outcome: Option<Result<T, WriteError>>,
    caller: oneshot::Sender<Result<T, WriteError>>,
}

/// A write of a commit.
pub(super) type CommitJob = Job<Commit, InsertedDeliveries>;

/// The transaction's next step after a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NextStep {
    /// Keep its writes.
    Keep,
    /// Undo its writes alone.
    Undo,
    /// Abandon the transaction: after such an error SQLite may have rolled it back.
    GiveUp,
    /// Abandon the connection: the job stopped, perhaps in the middle of a statement.
    Broke,
}

impl NextStep {
    const fn after<T>(outcome: &Result<T, WriteError>) -> Self {
        match outcome {
            Ok(_) => Self::Keep,
            Err(WriteError::NotFound | WriteError::Conflict | WriteError::InProgress) => Self::Undo,
            Err(
                WriteError::NotDone(_)
                | WriteError::Busy(_)
                | WriteError::Locked(_)
                | WriteError::Unknown(_)
                | WriteError::RolledBack
                | WriteError::Lost(_),
            ) => Self::GiveUp,
        }
    }
}

/// Runs several commits by common statements. Their outcomes are stored only if all are written.
pub(super) async fn run_together(
    connection: &mut SqliteConnection,
    jobs: &mut [&mut CommitJob],
) -> NextStep {
    for job in &mut *jobs {
        job.outcome = None;
    }
    let commits: Vec<&Commit> = jobs.iter().map(|job| &job.input).collect();
    let run = commit::write_all(connection, &commits);
    let Ok(outcome) = AssertUnwindSafe(run).catch_unwind().await else {
        return NextStep::Broke;
    };
    let step = NextStep::after(&outcome);
    for (job, inserted) in jobs.iter_mut().zip(outcome.into_iter().flatten()) {
        job.outcome = Some(Ok(inserted));
    }
    step
}

#[derive(Debug, Error)]
#[error("the write panicked")]
struct Panicked;

/// A job of any type, for the task.
pub(super) trait AnyJob: Send {
    fn durability(&self) -> Durability;

    /// Runs the job, again if it ran before, and stores the outcome.
    fn run<'j>(&'j mut self, connection: &'j mut SqliteConnection) -> BoxFuture<'j, NextStep>;

    /// The job, if it writes a commit.
    fn as_commit(&mut self) -> Option<&mut CommitJob>;

    /// Whether the caller no longer waits for the outcome.
    fn is_abandoned(&self) -> bool;

    /// Sends the outcome to the caller, which may have gone away.
    fn answer(self: Box<Self>);

    /// Sends an error to the caller in place of the outcome.
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
        after: Option<AfterWrite<T>>,
        caller: oneshot::Sender<Result<T, WriteError>>,
    ) -> Self {
        Self {
            input,
            run,
            durability,
            after,
            outcome: None,
            caller,
        }
    }
}

impl<I, T> AnyJob for Job<I, T>
where
    I: Send + Sync + 'static,
    T: Send + 'static,
{
    fn durability(&self) -> Durability {
        self.durability
    }

    fn run<'j>(&'j mut self, connection: &'j mut SqliteConnection) -> BoxFuture<'j, NextStep> {
        Box::pin(async move {
            // Drop the outcome of an earlier run, which releases what that run reserved.
            self.outcome = None;
            let run = async { (self.run)(connection, &self.input).await };
            // A panic of one job must not end the task, and with it every later write.
            let Ok(outcome) = AssertUnwindSafe(run).catch_unwind().await else {
                self.outcome = Some(Err(WriteError::NotDone(Box::new(Panicked))));
                return NextStep::Broke;
            };
            let step = NextStep::after(&outcome);
            self.outcome = Some(outcome);
            step
        })
    }

    fn as_commit(&mut self) -> Option<&mut CommitJob> {
        let job: &mut dyn Any = self;
        job.downcast_mut()
    }

    fn is_abandoned(&self) -> bool {
        self.caller.is_closed()
    }

    fn answer(self: Box<Self>) {
        let Some(mut outcome) = self.outcome else {
            return;
        };
        if let (Ok(done), Some(after)) = (&mut outcome, self.after) {
            after(done);
        }
        let _ = self.caller.send(outcome);
    }

    fn fail(mut self: Box<Self>, error: WriteError) {
        // What it holds ends before the caller goes on (see `Clearing`).
        self.after = None;
        let _ = self.caller.send(Err(error));
    }
}
