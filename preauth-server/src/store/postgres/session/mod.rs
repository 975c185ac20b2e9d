//! Executes statements: bounded reads of one snapshot, and writes that are one transaction with one
//! of four outcomes.
//!
//! Every step has a client-side timeout as well, because a connection whose other end vanished
//! never answers. Such a connection is closed, not returned to the pool.

mod autocommit;
mod retries;
mod transaction;

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use preauth_core::port::Unavailable;
use sqlx::PgConnection;
use tokio::time::timeout;

use crate::fair::Tenant;

use super::PostgresStore;
use super::connections::{CONNECTIONS, Connections};
use super::wake::Wake;
use crate::store::error::{Fault, WriteError, unavailable};
pub(super) use autocommit::{Failure, autocommit};
pub(super) use retries::LockedWrites;
use transaction::Transaction;

/// Timeout of a read; the server's own is shorter (see `open`).
const READ_TIMEOUT: Duration = Duration::from_secs(12);

/// Work with a connection and an input. It may be repeated from the beginning.
pub(super) type Run<I, T, E> =
    for<'c> fn(&'c mut PgConnection, &'c I) -> BoxFuture<'c, Result<T, E>>;

/// Begins a write that is durable: it survives a crash of the database once it was answered.
pub(super) const DURABLE: &str = "BEGIN";
/// Begins a write that a crash of the database may undo.
const RELAXED: &str = "BEGIN; SET LOCAL synchronous_commit = off";
/// Begins a durable write that does not wait for a lock which is held for longer than a commit takes.
pub(super) const DURABLE_NOWAIT: &str = "BEGIN; SET LOCAL lock_timeout = '10ms'";

/// Maximum number of connections for everything that are used by writes. The others are left to reads, which
/// wait for no lock.
pub(super) const WRITING: u32 = CONNECTIONS / 2;

/// The statements that begin a write, by how long it waits for locks.
#[derive(Clone, Copy)]
struct Begin {
    /// On a connection shared with other requests: as long as others' statements take.
    briefly: &'static str,
    /// The same, while the wait is likely to be in vain.
    nowait: &'static str,
    /// On a connection for writes that wait for locks.
    apart: &'static str,
}

const BEGIN_DURABLE: Begin = Begin {
    briefly: "BEGIN; SET LOCAL lock_timeout = '100ms'",
    nowait: DURABLE_NOWAIT,
    apart: DURABLE,
};
const BEGIN_RELAXED: Begin = Begin {
    briefly: "BEGIN; SET LOCAL synchronous_commit = off; SET LOCAL lock_timeout = '100ms'",
    nowait: "BEGIN; SET LOCAL synchronous_commit = off; SET LOCAL lock_timeout = '10ms'",
    apart: RELAXED,
};

impl PostgresStore {
    /// Reads by one statement; retried once when the connection is broken.
    pub(super) async fn read<I, T>(&self, input: &I, run: Run<I, T, Fault>) -> Result<T, Fault>
    where
        I: Sync,
    {
        let _room = self.room.acquire(1).await?;
        read(&self.connections, input, run).await
    }

    /// Reads by several statements in one snapshot.
    pub(super) async fn read_snapshot<I, T>(
        &self,
        input: &I,
        run: Run<I, T, Fault>,
    ) -> Result<T, Fault>
    where
        I: Sync,
    {
        let _room = self.room.acquire(1).await?;
        match self.read_snapshot_once(input, run).await {
            Err(fault) if fault.is_broken_connection() => {
                self.connections.recheck_idle();
                self.read_snapshot_once(input, run).await
            }
            outcome => outcome,
        }
    }

    /// Executes `run` as a durable write.
    pub(super) async fn write<I, T>(
        &self,
        input: I,
        run: Run<I, T, WriteError>,
    ) -> Result<T, WriteError>
    where
        I: Send + Sync + 'static,
        T: Send + 'static,
    {
        self.submit(BEGIN_DURABLE, None, input, run).await
    }

    /// Like [`PostgresStore::write`]; then notifies every dispatcher that deliveries are due.
    pub(super) async fn write_and_wake<I, T>(
        &self,
        input: I,
        run: Run<I, T, WriteError>,
    ) -> Result<T, WriteError>
    where
        I: Send + Sync + 'static,
        T: Send + 'static,
    {
        let wake = Some(Arc::clone(&self.wake));
        self.submit(BEGIN_DURABLE, wake, input, run).await
    }

    /// Executes `run` as a write that a crash of the database may undo.
    pub(super) async fn write_relaxed<I, T>(
        &self,
        input: I,
        run: Run<I, T, WriteError>,
    ) -> Result<T, Unavailable>
    where
        I: Send + Sync + 'static,
        T: Send + 'static,
    {
        self.submit(BEGIN_RELAXED, None, input, run)
            .await
            .map_err(unavailable)
    }

    /// Tries the write once on a connection that it shares with other requests; retries it apart from them
    /// when others have locked a row that it needs.
    async fn submit<I, T>(
        &self,
        begin: Begin,
        wake: Option<Arc<Wake>>,
        input: I,
        run: Run<I, T, WriteError>,
    ) -> Result<T, WriteError>
    where
        I: Send + Sync + 'static,
        T: Send + 'static,
    {
        let room_to_write = self.room_to_write.acquire(1).await?;
        let rooms = (room_to_write, self.room.acquire(1).await?);
        let (tenant, locked) = (Tenant::of_this_task(), self.locked_writes.clone());
        let first = Transaction::new(self.connections.clone(), locked.first_try(begin));
        finish(async move {
            let mut outcome = first.write(&input, run).await;
            drop(rooms);
            if let Err(WriteError::Locked(_)) = outcome {
                outcome = locked.retry(tenant, begin, &input, run).await;
            }
            if let (Ok(_), Some(wake)) = (&outcome, wake) {
                wake.all();
            }
            outcome
        })
        .await
    }

    async fn read_snapshot_once<I, T>(&self, input: &I, run: Run<I, T, Fault>) -> Result<T, Fault>
    where
        I: Sync,
    {
        let mut lent = self.connections.acquire().await?;
        let connection = lent.connection()?;
        let snapshot = async {
            // Not READ ONLY: reserving an id is a write.
            let mut snapshot =
                sqlx::Connection::begin_with(connection, "BEGIN ISOLATION LEVEL REPEATABLE READ")
                    .await?;
            let read = run(&mut snapshot, input).await?;
            snapshot.rollback().await?;
            Ok(read)
        };
        let outcome = timeout(READ_TIMEOUT, snapshot).await;
        lent.return_after(outcome.map_err(|_| Fault::TimedOut)?)
    }
}

/// Executes `run` in a transaction that begins with `begin`. A locked row is waited for as long as the
/// session, or `begin`, permits.
pub(super) async fn write<I, T>(
    connections: &Connections,
    begin: &'static str,
    input: I,
    run: Run<I, T, WriteError>,
) -> Result<T, WriteError>
where
    I: Send + Sync + 'static,
    T: Send + 'static,
{
    let transaction = Transaction::new(connections.clone(), begin);
    finish(async move { transaction.write(&input, run).await }).await
}

/// Runs the write on a task of its own, so that it completes even if the caller goes away.
async fn finish<T>(
    write: impl Future<Output = Result<T, WriteError>> + Send + 'static,
) -> Result<T, WriteError>
where
    T: Send + 'static,
{
    match tokio::spawn(write).await {
        Ok(outcome) => outcome,
        // Without an answer it is unknown whether the commit was written.
        Err(lost) => Err(WriteError::Unknown(Box::new(lost))),
    }
}

/// Reads by one statement; retried once when the connection is broken.
pub(super) async fn read<I, T>(
    connections: &Connections,
    input: &I,
    run: Run<I, T, Fault>,
) -> Result<T, Fault>
where
    I: Sync,
{
    match read_once(connections, input, run).await {
        Err(fault) if fault.is_broken_connection() => {
            connections.recheck_idle();
            read_once(connections, input, run).await
        }
        outcome => outcome,
    }
}

async fn read_once<I, T>(
    connections: &Connections,
    input: &I,
    run: Run<I, T, Fault>,
) -> Result<T, Fault>
where
    I: Sync,
{
    let mut lent = connections.acquire().await?;
    let outcome = timeout(READ_TIMEOUT, run(lent.connection()?, input)).await;
    lent.return_after(outcome.map_err(|_| Fault::TimedOut)?)
}
