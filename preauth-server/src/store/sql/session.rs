//! A connection of either driver, and its rows.

use futures_util::future::BoxFuture;
use sqlx::postgres::PgRow;
use sqlx::sqlite::SqliteRow;
use uuid::Uuid;

use crate::store::rows::RawRow;

use super::query::Query;

/// A database's SQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store) enum Dialect {
    Sqlite,
    Postgres,
}

/// Executes statements. Statements are prepared once for each connection.
pub(in crate::store) trait Session: Send {
    fn dialect(&self) -> Dialect;

    /// Returns the number of changed rows.
    fn execute<'s>(&'s mut self, query: Query<'s>) -> BoxFuture<'s, Result<u64, sqlx::Error>>;

    fn fetch_optional<'s>(
        &'s mut self,
        query: Query<'s>,
    ) -> BoxFuture<'s, Result<Option<Row>, sqlx::Error>>;

    fn fetch_all<'s>(
        &'s mut self,
        query: Query<'s>,
    ) -> BoxFuture<'s, Result<Vec<Row>, sqlx::Error>>;
}

/// A row of either driver.
pub(in crate::store) enum Row {
    Sqlite(SqliteRow),
    Postgres(PgRow),
}

impl Row {
    fn raw(&self) -> &dyn RawRow {
        match self {
            Self::Sqlite(row) => row,
            Self::Postgres(row) => row,
        }
    }
}

impl RawRow for Row {
    fn text(&self, column: &str) -> Result<Option<&str>, sqlx::Error> {
        self.raw().text(column)
    }

    fn blob(&self, column: &str) -> Result<Option<&[u8]>, sqlx::Error> {
        self.raw().blob(column)
    }

    fn whole(&self, column: &str) -> Result<Option<i64>, sqlx::Error> {
        self.raw().whole(column)
    }

    fn flag(&self, column: &str) -> Result<Option<bool>, sqlx::Error> {
        self.raw().flag(column)
    }

    fn uuid(&self, column: &str) -> Result<Option<Uuid>, sqlx::Error> {
        self.raw().uuid(column)
    }
}

impl std::fmt::Debug for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Row").finish_non_exhaustive()
    }
}
