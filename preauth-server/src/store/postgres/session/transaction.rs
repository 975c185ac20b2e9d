//! The life of one writing transaction.

use std::time::Duration;

use sqlx::{Connection, PgConnection};
use tokio::time::timeout;

use crate::store::error::{Fault, WriteError, after_commit};

use super::super::connections::Connections;
use super::Run;

/// Timeout of all statements of a write together; the server's own for a single one is shorter.
const WORK_TIMEOUT: Duration = Duration::from_secs(12);
/// Timeout of the answer to COMMIT; a synchronous standby may need time.
const COMMIT_TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout of the answer to ROLLBACK; closing the connection rolls back as well.
const ROLLBACK_TIMEOUT: Duration = Duration::from_secs(1);
/// Maximum number of attempts of a write that the database rolled back because of concurrent
/// transactions.
const ROUNDS: u32 = 4;

pub(super) struct Transaction {
    connections: Connections,
    /// The statements that begin the transaction.
    begin: &'static str,
}

impl Transaction {
    pub(super) const fn new(connections: Connections, begin: &'static str) -> Self {
        Self { connections, begin }
    }

    /// Executes `run` in a transaction and commits it. Repeats it when it was rolled back because
    /// of another transaction, or the connection was lost before the commit: nothing was written
    /// then.
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
                    self.connections.recheck_idle();
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
        // No connection, no retry: the pool has tried long enough.
        let acquired = self.connections.acquire().await;
        let mut lent = acquired.map_err(|fault| WriteError::NotDone(Box::new(fault)))?;
        let (outcome, may_be_used_again) = self.transact(lent.connection()?, input, run).await;
        if may_be_used_again {
            lent.give_back();
        }
        outcome
    }

    /// Also returns whether the connection is usable. Otherwise it must be closed, so that the
    /// server rolls back.
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
                    self.connections.recheck_idle();
                    (Err(after_commit(error)), false)
                }
                Err(_) => (Err(WriteError::Unknown(Box::new(Fault::TimedOut))), false),
            },
            Err(error) => {
                let ended = timeout(ROLLBACK_TIMEOUT, transaction.rollback()).await;
                // A server that accepts no writes would refuse the next one as well.
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

/// An open transaction, and the result of its statements.
type Worked<'c, T> = (sqlx::Transaction<'c, sqlx::Postgres>, Result<T, WriteError>);
