//! The loop of the writing task, and the steps of one transaction.

use std::fs::File;
use std::sync::Arc;
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{Connection, Executor};
use tokio::time::timeout;

use crate::fair::Receiver;
use crate::store::error::{WriteError, code};
use crate::worker::LoopHealth;

use super::super::open::reconnect;
use super::super::room::Room;
use super::Durability;
use super::job::{AnyJob, CommitJob, NextStep, run_together};

/// Maximum number of jobs per transaction.
pub(super) const GROUP_LIMIT: usize = 128;
/// Interval at which an idle writer reports its health.
const IDLE_STEP: Duration = Duration::from_secs(10);
/// The mask of SQLite's primary result code, without the extended part.
const PRIMARY_CODE: i32 = 0xFF;
const SQLITE_IOERR: i32 = 10;

pub(super) struct Task {
    options: SqliteConnectOptions,
    /// `None` after a failure that left its state uncertain; the next group gets a new one.
    connection: Option<SqliteConnection>,
    synchronous: Durability,
    inbox: Receiver<Box<dyn AnyJob>>,
    health: Arc<LoopHealth>,
    room: Arc<Room>,
    lock: File,
}

/// Why a group was not committed.
enum Failure {
    /// A job met an error that affects all of them; nothing was written.
    GivenUp,
    /// Nothing was written.
    NotDone(sqlx::Error),
    /// Whether it was written is unknown.
    Unknown(sqlx::Error),
}

impl Task {
    pub(super) fn new(
        options: SqliteConnectOptions,
        connection: SqliteConnection,
        lock: File,
        inbox: Receiver<Box<dyn AnyJob>>,
        (health, room): (Arc<LoopHealth>, Arc<Room>),
    ) -> Self {
        Self {
            options,
            connection: Some(connection),
            synchronous: Durability::Durable,
            inbox,
            health,
            room,
            lock,
        }
    }

    /// Works until the queue is closed and empty.
    pub(super) async fn run(mut self) {
        loop {
            let Ok(jobs) = timeout(IDLE_STEP, self.inbox.take(GROUP_LIMIT)).await else {
                self.health.note(true);
                continue;
            };
            if jobs.is_empty() {
                break;
            }
            let has_succeeded = self.work(jobs).await;
            self.health.note(has_succeeded);
        }
        self.end().await;
    }

    /// Runs the jobs together; if one of them breaks the transaction, each on its own. Returns
    /// whether the database accepted all writes.
    async fn work(&mut self, mut jobs: Vec<Box<dyn AnyJob>>) -> bool {
        let outcome = self.transact(&mut jobs).await;
        let mut has_succeeded = outcome.is_ok();
        if let Err(Failure::NotDone(error) | Failure::Unknown(error)) = &outcome {
            self.room.note(error);
        }
        if matches!(outcome, Err(Failure::GivenUp)) && jobs.len() > 1 {
            for job in jobs {
                let mut alone = [job];
                let outcome = self.transact(&mut alone).await;
                has_succeeded &= outcome.is_ok();
                answer(alone, outcome);
            }
        } else {
            answer(jobs, outcome);
        }
        has_succeeded
    }

    /// Runs the jobs in one transaction, and commits.
    async fn transact(&mut self, jobs: &mut [Box<dyn AnyJob>]) -> Result<(), Failure> {
        if jobs.is_empty() {
            return Ok(());
        }
        let durability = durability_of(jobs);
        self.begin(durability).await.map_err(Failure::NotDone)?;
        let ran = self.run_all(jobs).await;
        if let Err(failure) = ran {
            self.roll_back().await;
            return Err(failure);
        }
        let Err(error) = self.statement("COMMIT").await else {
            return Ok(());
        };
        self.roll_back().await;
        Err(if leaves_doubt(&error) {
            Failure::Unknown(error)
        } else {
            Failure::NotDone(error)
        })
    }

    async fn begin(&mut self, durability: Durability) -> Result<(), sqlx::Error> {
        if self.connection.is_none() {
            self.connection = Some(reconnect(&self.options).await?);
            self.synchronous = Durability::Durable;
        }
        if self.synchronous != durability {
            // This takes effect only outside of a transaction.
            self.statement(match durability {
                Durability::Durable => "PRAGMA synchronous = FULL",
                Durability::Relaxed => "PRAGMA synchronous = NORMAL",
            })
            .await?;
            self.synchronous = durability;
        }
        let begun = self.statement("BEGIN IMMEDIATE").await;
        if begun.is_err() {
            self.roll_back().await;
        }
        begun
    }

    /// Runs the commits by common statements, and every other job on its own, each with a savepoint. If a
    /// commit of several conflicts, they are halved until the one is found.
    async fn run_all(&mut self, jobs: &mut [Box<dyn AnyJob>]) -> Result<(), Failure> {
        let (mut commits, mut others) = (Vec::new(), Vec::new());
        for job in jobs {
            if job.as_commit().is_some() {
                commits.extend(job.as_commit());
            } else {
                others.push(job);
            }
        }
        let mut parts = vec![commits.as_mut_slice()];
        while let Some(part) = parts.pop() {
            if let [job] = part {
                self.run_one(*job).await?;
            } else if !self.run_commits(part).await? {
                let (one, other) = part.split_at_mut(part.len().div_ceil(2));
                parts.extend([other, one]);
            }
        }
        for job in others {
            self.run_one(job.as_mut()).await?;
        }
        Ok(())
    }

    async fn run_one(&mut self, job: &mut dyn AnyJob) -> Result<(), Failure> {
        let connection = self.savepoint().await?;
        let step = job.run(connection).await;
        self.end_savepoint(step).await.map(drop)
    }

    /// Whether they were written.
    async fn run_commits(&mut self, commits: &mut [&mut CommitJob]) -> Result<bool, Failure> {
        if commits.is_empty() {
            return Ok(true);
        }
        let connection = self.savepoint().await?;
        let step = run_together(connection, commits).await;
        self.end_savepoint(step).await
    }

    async fn savepoint(&mut self) -> Result<&mut SqliteConnection, Failure> {
        let begun = self.statement("SAVEPOINT job").await;
        begun.map_err(Failure::NotDone)?;
        let lost = || Failure::NotDone(sqlx::Error::WorkerCrashed);
        self.connection.as_mut().ok_or_else(lost)
    }

    /// Whether what was written since the savepoint is kept.
    async fn end_savepoint(&mut self, step: NextStep) -> Result<bool, Failure> {
        let end = match step {
            NextStep::Keep => "RELEASE job",
            NextStep::Undo => "ROLLBACK TO job; RELEASE job",
            NextStep::GiveUp => return Err(Failure::GivenUp),
            NextStep::Broke => {
                // Closing the connection rolls back, whichever statement was in progress.
                self.connection = None;
                return Err(Failure::GivenUp);
            }
        };
        self.statement(end).await.map_err(Failure::NotDone)?;
        Ok(step == NextStep::Keep)
    }

    /// Ends a transaction that may already have ended. If that fails too, the connection is closed,
    /// which rolls back for certain.
    async fn roll_back(&mut self) {
        if self.statement("ROLLBACK").await.is_err() {
            self.connection = None;
        }
    }

    /// Transactions are explicit statements, because SQLite may end one by itself, which the
    /// library's own counting would miss.
    async fn statement(&mut self, sql: &'static str) -> Result<(), sqlx::Error> {
        match &mut self.connection {
            Some(connection) => connection.execute(sql).await.map(drop),
            None => Err(sqlx::Error::WorkerCrashed),
        }
    }

    async fn end(mut self) {
        let folded = self.statement("PRAGMA wal_checkpoint(TRUNCATE)").await;
        let closed = match self.connection {
            Some(connection) => connection.close().await,
            None => Ok(()),
        };
        if let Err(error) = folded.and(closed) {
            // Nothing is lost: the next start reads the log.
            tracing::warn!(error = %error, "the database was not closed in order");
        }
        drop(self.lock);
    }
}

fn durability_of(jobs: &[Box<dyn AnyJob>]) -> Durability {
    if jobs
        .iter()
        .all(|job| job.durability() == Durability::Relaxed)
    {
        Durability::Relaxed
    } else {
        Durability::Durable
    }
}

/// After most errors of COMMIT the transaction is still open or was rolled back. A disk error may
/// come after the last page was written: a crash before the next write could then complete the
/// commit.
fn leaves_doubt(error: &sqlx::Error) -> bool {
    let Some(code) = code(error) else {
        return true;
    };
    code.parse::<i32>()
        .map_or(true, |code| code & PRIMARY_CODE == SQLITE_IOERR)
}

fn answer(jobs: impl IntoIterator<Item = Box<dyn AnyJob>>, outcome: Result<(), Failure>) {
    match outcome {
        // The outcome of a job that was abandoned on its own is the most specific.
        Ok(()) | Err(Failure::GivenUp) => jobs.into_iter().for_each(AnyJob::answer),
        Err(Failure::NotDone(error)) => {
            let error = Arc::new(error);
            for job in jobs {
                job.fail(WriteError::NotDone(Box::new(Arc::clone(&error))));
            }
        }
        Err(Failure::Unknown(error)) => {
            let error = Arc::new(error);
            for job in jobs {
                job.fail(WriteError::Unknown(Box::new(Arc::clone(&error))));
            }
        }
    }
}
