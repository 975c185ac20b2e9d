//! A single statement, which is a transaction of its own: one round trip for many callers.

use std::time::Duration;

use tokio::time::timeout;

use super::super::connections::Connections;
use super::super::error::{Fault, WriteError, after_autocommit, breaks_rule, is_locked};
use super::{Lent, Run};

/// How long the statement may take; the server gives up sooner by itself (see `open`).
const TIMEOUT: Duration = Duration::from_secs(12);
/// How often a statement is sent that the database rolled back on account of others at work, or that
/// reached a server that takes no writes.
const ROUNDS: u32 = 4;

/// Why what many callers asked for was not written.
pub(in super::super) enum Failure {
    /// Something in it breaks a rule of the schema; without that, the rest may be written.
    OfSome(WriteError),
    /// Something in it is locked by others; without that, the rest may be written. Nothing was.
    Locked,
    /// It has nothing to do with what was to be written.
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

/// Does `run`, which must be one statement; anew when it was rolled back on account of others, or
/// when the server takes no writes.
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
    let mut lent = Lent::from(connections.acquire().await?);
    let error = match timeout(TIMEOUT, run(lent.connection()?, input)).await {
        Ok(Ok(written)) => {
            lent.give_back();
            return Ok(written);
        }
        Ok(Err(error)) => error,
        Err(_) => {
            let error = WriteError::Unknown(Box::new(Fault::TimedOut));
            return Err(Failure::OfAll(error));
        }
    };
    let breaks_rule = breaks_rule(&error);
    let is_locked = is_locked(&error);
    let error = after_autocommit(error);
    if matches!(error, WriteError::Unknown(_) | WriteError::Lost(_)) {
        connections.suspect_all();
    } else {
        lent.give_back();
    }
    Err(if is_locked {
        Failure::Locked
    } else if breaks_rule {
        Failure::OfSome(error)
    } else {
        Failure::OfAll(error)
    })
}
