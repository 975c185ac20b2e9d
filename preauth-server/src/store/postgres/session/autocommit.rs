//! A single statement that is its own transaction: one round trip for many callers.

use std::time::Duration;

use sqlx::{Connection, Postgres};
use tokio::time::timeout;

use crate::store::error::{Fault, WriteError, after_autocommit, breaks_rule, is_locked};
use crate::store::idle_stack::Lent;

use super::super::connections::Connections;
use super::Run;

/// Timeout of the statement; the server's own is shorter (see `open`).
const TIMEOUT: Duration = Duration::from_secs(12);
/// Timeout of the end of a statement that failed.
const END_TIMEOUT: Duration = Duration::from_secs(1);
/// Maximum number of attempts of a statement that the database rolled back because of concurrent
/// transactions, or that reached a server which accepts no writes.
const ROUNDS: u32 = 4;

/// Why a statement for many callers was not written.
pub(in super::super) enum Failure {
    /// A part of it violates a constraint of the schema; without that part, the rest may be
    /// written.
    OfSome(WriteError),
    /// A part of it is locked by others; without that part, the rest may be written. Nothing was
    /// written.
    Locked,
    /// The failure does not depend on the data.
    OfAll(WriteError),
}

impl Failure {
    pub(in super::super) const fn is_timeout(&self) -> bool {
        matches!(self, Self::Locked)
    }
}

impl From<Fault> for Failure {
    /// Without a connection nothing was sent.
    fn from(fault: Fault) -> Self {
        Self::OfAll(WriteError::NotDone(Box::new(fault)))
    }
}

/// Executes `run`, which must be one statement; repeats it when it was rolled back because of
/// others, or when the server accepts no writes.
pub(in super::super) async fn autocommit<I, T>(
    connections: &Connections,
    input: &I,
    run: Run<I, T, sqlx::Error>,
) -> Result<T, Failure> {
    let mut last = WriteError::Conflict;
    for _ in 0..ROUNDS {
        match once(connections, input, run).await {
            Err(Failure::OfAll(WriteError::RolledBack)) => last = WriteError::Conflict,
            Err(Failure::OfAll(WriteError::Lost(fault))) => last = WriteError::Lost(fault),
            outcome => return outcome,
        }
    }
    Err(Failure::OfAll(last))
}

async fn once<I, T>(
    connections: &Connections,
    input: &I,
    run: Run<I, T, sqlx::Error>,
) -> Result<T, Failure> {
    let mut lent = connections.acquire().await?;
    let error = match timeout(TIMEOUT, run(lent.connection()?, input)).await {
        Ok(Ok(written)) => {
            lent.give_back();
            return Ok(written);
        }
        Ok(Err(error)) => error,
        Err(_) => {
            connections.recheck_idle();
            let error = WriteError::Unknown(Box::new(Fault::TimedOut));
            return Err(Failure::OfAll(error));
        }
    };
    let breaks_rule = breaks_rule(&error);
    let is_locked = is_locked(&error);
    let error = after_autocommit(error);
    let is_broken = matches!(error, WriteError::Unknown(_) | WriteError::Lost(_));
    if is_broken || !has_ended(&mut lent).await {
        // It is closed, and others may be broken, too.
        connections.recheck_idle();
    } else if is_locked || breaks_rule || matches!(error, WriteError::RolledBack) {
        lent.give_back();
    } else {
        // The fault may be the session's.
        lent.release();
    }
    Err(if is_locked {
        Failure::Locked
    } else if breaks_rule {
        Failure::OfSome(error)
    } else {
        Failure::OfAll(error)
    })
}

/// Waits for the end of the transaction of a statement that failed. The database sends the error before: until then its locks
/// would refuse a repetition on another session.
async fn has_ended(lent: &mut Lent<Postgres>) -> bool {
    let Ok(connection) = lent.connection() else {
        return false;
    };
    matches!(timeout(END_TIMEOUT, connection.ping()).await, Ok(Ok(())))
}
