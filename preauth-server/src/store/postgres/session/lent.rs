//! A connection of the pool that goes back only when its work is known to be over.

use sqlx::pool::PoolConnection;
use sqlx::{PgConnection, Postgres};
use tokio::time::error::Elapsed;

use super::super::error::Fault;

/// Closes the connection when it is dropped in the middle of a statement: the pool would wait for
/// the rest of the answer, which may never come, and be one connection short until then.
pub(in super::super) struct Lent(Option<PoolConnection<Postgres>>);

impl From<PoolConnection<Postgres>> for Lent {
    fn from(connection: PoolConnection<Postgres>) -> Self {
        Self(Some(connection))
    }
}

impl Lent {
    pub(in super::super) fn connection(&mut self) -> Result<&mut PgConnection, Fault> {
        match &mut self.0 {
            Some(connection) => Ok(&mut **connection),
            None => Err(Fault::TimedOut),
        }
    }

    /// Gives the connection back, unless the outcome shows that it is of no more use.
    pub(in super::super) fn give_back_after<T>(
        mut self,
        outcome: Result<Result<T, Fault>, Elapsed>,
    ) -> Result<T, Fault> {
        let Ok(outcome) = outcome else {
            return Err(Fault::TimedOut);
        };
        if !matches!(&outcome, Err(fault) if fault.is_broken_connection()) {
            self.give_back();
        }
        outcome
    }

    /// Gives the connection back; whatever was asked of it has been answered.
    pub(in super::super) fn give_back(&mut self) {
        drop(self.0.take());
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let Some(connection) = &mut self.0 {
            connection.close_on_drop();
        }
    }
}
