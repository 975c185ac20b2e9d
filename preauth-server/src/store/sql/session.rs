//! A connection of either driver, and its rows.

use futures_util::future::BoxFuture;
use sqlx::postgres::PgRow;
use sqlx::sqlite::SqliteRow;
use uuid::Uuid;

use crate::store::rows::{Columns, Corrupt, RawRow, count};

use super::query::{Dialect, Query};

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

impl Query<'_> {
    /// Returns the number of changed rows.
    pub(super) async fn execute(self, session: &mut dyn Session) -> Result<u64, sqlx::Error> {
        session.execute(self).await
    }

    pub(super) async fn fetch_all(
        self,
        session: &mut dyn Session,
    ) -> Result<Vec<Row>, sqlx::Error> {
        session.fetch_all(self).await
    }

    pub(super) async fn fetch_optional(
        self,
        session: &mut dyn Session,
    ) -> Result<Option<Row>, sqlx::Error> {
        session.fetch_optional(self).await
    }

    pub(super) async fn fetch_one(self, session: &mut dyn Session) -> Result<Row, sqlx::Error> {
        let row = session.fetch_optional(self).await?;
        row.ok_or(sqlx::Error::RowNotFound)
    }

    /// Locks the rows that the statement selects for update, where others might write them: SQLite has
    /// only one writer.
    pub(super) async fn lock(self, session: &mut dyn Session) -> Result<(), sqlx::Error> {
        if session.dialect() == Dialect::Postgres {
            session.execute(self).await?;
        }
        Ok(())
    }

    /// The number in the column `total` of the only row.
    pub(super) async fn total(self, session: &mut dyn Session) -> Result<u64, sqlx::Error> {
        let row = self.fetch_one(session).await?;
        let total: Result<i64, Corrupt> = Columns::of("totals", &row).raw("total");
        total
            .map(count)
            .map_err(|error| sqlx::Error::Decode(error.into()))
    }
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
