//! The life of one writing transaction.

use std::time::Duration;

use sqlx::{Connection, PgConnection};
use tokio::time::timeout;

use super::super::connections::Connections;
use super::super::error::{Fault, WriteError, after_commit};
use super::Run;
use super::lent::Lent;

/// How long the statements of a write may take together; the server gives up a single one sooner.
const WORK_TIMEOUT: Duration = Duration::from_secs(12);
/// How long the answer to COMMIT is waited for; a synchronous standby may take its time.
const COMMIT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the answer to ROLLBACK is waited for: a connection that is closed rolls back, too.
const ROLLBACK_TIMEOUT: Duration = Duration::from_secs(1);
/// How often a write is done that the database rolled back on account of others at work.
const ROUNDS: u32 = 4;

pub(super) struct Transaction {
    connections: Connections,
    /// The statements that it begins with.
    begin: &'static str,
}

impl Transaction {
    pub(super) const fn new(connections: Connections, begin: &'static str) -> Self {
        Self { connections, begin }
    }

    /// Does `run` in a transaction and commits it; anew when it was rolled back on account of
    /// another, or the connection was lost before the commit: neither leaves anything behind.
    pub(super) async fn write<I, T>(
        &self,
        input: &I,
        run: Run<I, T, WriteError>,
    ) -> Result<T, WriteError> {
        let mut last = WriteError::Conflict;
        for _ in 0..ROUNDS {
            match self.write_once(input, run).await {
                Err(WriteError::RolledBack) => last = WriteError::Conflict,
                Err(WriteError::Lost(fault)) => {
                    self.connections.suspect_all();
                    last = WriteError::Lost(fault);
                }
                outcome => return outcome,
            }
        }
        Err(last)
    }

    async fn write_once<I, T>(
        &self,
        input: &I,
        run: Run<I, T, WriteError>,
    ) -> Result<T, WriteError> {
        // Without a connection there is nothing to be lost, and the pool has tried long enough.
        let acquired = self.connections.acquire().await;
        let acquired = acquired.map_err(|fault| WriteError::NotDone(Box::new(fault)))?;
        let mut lent = Lent::from(acquired);
        let (outcome, may_be_used_again) = self.transact(lent.connection()?, input, run).await;
        if may_be_used_again {
            lent.give_back();
        }
        outcome
    }

    /// Also returns whether the connection may be used again. Otherwise it must be closed, so that
    /// the server rolls back.
    async fn transact<I, T>(
        &self,
        connection: &mut PgConnection,
        input: &I,
        run: Run<I, T, WriteError>,
    ) -> (Result<T, WriteError>, bool) {
        let work = timeout(WORK_TIMEOUT, self.work(connection, input, run)).await;
        let (transaction, written) = match work {
            Ok(Ok(worked)) => worked,
            Ok(Err(error)) => return (Err(error), false),
            Err(_) => return (Err(Fault::TimedOut.into()), false),
        };
        match written {
            Ok(written) => match timeout(COMMIT_TIMEOUT, transaction.commit()).await {
                Ok(Ok(())) => (Ok(written), true),
                Ok(Err(error)) => {
                    self.connections.suspect_all();
                    (Err(after_commit(error)), false)
                }
                Err(_) => (Err(WriteError::Unknown(Box::new(Fault::TimedOut))), false),
            },
            Err(error) => {
                let ended = timeout(ROLLBACK_TIMEOUT, transaction.rollback()).await;
                // Where no writes are taken, the next one would fail, too.
                let may_be_used_again = !matches!(error, WriteError::Lost(_));
                (Err(error), may_be_used_again && matches!(ended, Ok(Ok(()))))
            }
        }
    }

    async fn work<'c, I, T>(
        &self,
        connection: &'c mut PgConnection,
        input: &I,
        run: Run<I, T, WriteError>,
    ) -> Result<Worked<'c, T>, WriteError> {
        let mut transaction = connection.begin_with(self.begin).await?;
        let written = run(&mut transaction, input).await;
        Ok((transaction, written))
    }
}

/// An open transaction, and what its statements came to.
type Worked<'c, T> = (sqlx::Transaction<'c, sqlx::Postgres>, Result<T, WriteError>);
