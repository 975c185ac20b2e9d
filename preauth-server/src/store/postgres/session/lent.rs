//! A connection that returns to the pool only when its work is certainly over.

use sqlx::pool::PoolConnection;
use sqlx::{PgConnection, Postgres};
use tokio::time::error::Elapsed;

use crate::store::error::Fault;

/// Closes the connection when it is dropped in the middle of a statement: the pool would wait for
/// the rest of the answer, which may never come, and lack a connection until then.
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

    /// Returns the connection to the pool, unless the outcome shows that it is unusable.
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

    /// Returns the connection to the pool; every statement on it must have been answered.
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
