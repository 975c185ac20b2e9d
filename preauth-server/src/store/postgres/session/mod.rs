//! How statements reach the database: bounded reads of one moment, and writes that are one
//! transaction with one of four known ends.
//!
//! Every step has a time limit on this side too, because a connection whose other end vanished
//! never answers. Such a connection is closed, not given back.

mod autocommit;
mod lent;
mod transaction;

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use preauth_core::port::Unavailable;
use sqlx::PgConnection;
use tokio::time::timeout;

use crate::fair::Room;

use super::PostgresStore;
use super::connections::Connections;
use super::error::{Fault, WriteError};
use super::wake::Wake;
pub(super) use autocommit::{Failure, autocommit};
pub(super) use lent::Lent;
use transaction::Transaction;

/// How long a read may take; the server gives up sooner by itself (see `open`).
const READ_TIMEOUT: Duration = Duration::from_secs(12);

/// What is done with a connection and an input. It may be done again from the beginning.
pub(super) type Run<I, T, E> =
    for<'c> fn(&'c mut PgConnection, &'c I) -> BoxFuture<'c, Result<T, E>>;

/// Begins a write that survives a crash of the database once it was answered.
pub(super) const DURABLE: &str = "BEGIN";
/// Begins a write that a crash of the database may undo.
const RELAXED: &str = "BEGIN; SET LOCAL synchronous_commit = off";

impl PostgresStore {
    /// Reads by one statement; a second time when the connection turns out to be broken.
    pub(super) async fn read<I, T>(&self, input: &I, run: Run<I, T, Fault>) -> Result<T, Fault>
    where
        I: Sync,
    {
        let _room = self.room.acquire(1).await?;
        read(&self.connections, input, run).await
    }

    /// Reads by several statements that all see the same moment.
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
                self.connections.suspect_all();
                self.read_snapshot_once(input, run).await
            }
            outcome => outcome,
        }
    }

    /// Does `run` and makes it last.
    pub(super) async fn write<I, T>(
        &self,
        input: I,
        run: Run<I, T, WriteError>,
    ) -> Result<T, WriteError>
    where
        I: Send + Sync + 'static,
        T: Send + 'static,
    {
        self.submit(DURABLE, None, input, run).await
    }

    /// Like [`PostgresStore::write`]; afterwards tells every dispatcher that deliveries are due.
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
        self.submit(DURABLE, wake, input, run).await
    }

    /// Does `run`, which nobody misses much if the database crashes now.
    pub(super) async fn write_relaxed<I, T>(
        &self,
        input: I,
        run: Run<I, T, WriteError>,
    ) -> Result<T, Unavailable>
    where
        I: Send + Sync + 'static,
        T: Send + 'static,
    {
        self.submit(RELAXED, None, input, run)
            .await
            .map_err(super::error::unavailable)
    }

    async fn submit<I, T>(
        &self,
        begin: &'static str,
        wake: Option<Arc<Wake>>,
        input: I,
        run: Run<I, T, WriteError>,
    ) -> Result<T, WriteError>
    where
        I: Send + Sync + 'static,
        T: Send + 'static,
    {
        let room = self.room.acquire(1).await?;
        submit(&self.connections, begin, wake, Some(room), input, run).await
    }

    async fn read_snapshot_once<I, T>(&self, input: &I, run: Run<I, T, Fault>) -> Result<T, Fault>
    where
        I: Sync,
    {
        let mut lent = Lent::from(self.connections.acquire().await?);
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
        lent.give_back_after(outcome)
    }
}

/// Does `run` in a transaction that begins by `begin`.
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
    submit(connections, begin, None, None, input, run).await
}

/// Hands the write to a task of its own, so that a caller who goes away leaves it whole.
async fn submit<I, T>(
    connections: &Connections,
    begin: &'static str,
    wake: Option<Arc<Wake>>,
    room: Option<Room>,
    input: I,
    run: Run<I, T, WriteError>,
) -> Result<T, WriteError>
where
    I: Send + Sync + 'static,
    T: Send + 'static,
{
    let transaction = Transaction::new(connections.clone(), begin);
    let task = tokio::spawn(async move {
        let outcome = transaction.write(&input, run).await;
        drop(room);
        if let (Ok(_), Some(wake)) = (&outcome, wake) {
            wake.all();
        }
        outcome
    });
    match task.await {
        Ok(outcome) => outcome,
        // Without an answer the commit may or may not have come to pass.
        Err(lost) => Err(WriteError::Unknown(Box::new(lost))),
    }
}

/// Reads by one statement; a second time when the connection turns out to be broken.
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
            connections.suspect_all();
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
    let mut lent = Lent::from(connections.acquire().await?);
    let outcome = timeout(READ_TIMEOUT, run(lent.connection()?, input)).await;
    lent.give_back_after(outcome)
}
