//! A statement with its values.

use crate::store::rows::{Columns, Corrupt, count};
use crate::store::set_aside::SetAside;

use super::session::{Dialect, Row, Session};
use super::value::Value;

/// The text of a statement in each database's dialect, see [`super::sql!`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Sql {
    pub(super) sqlite: &'static str,
    pub(super) postgres: &'static str,
}

impl Sql {
    pub(super) const fn text(self, dialect: Dialect) -> &'static str {
        match dialect {
            Dialect::Sqlite => self.sqlite,
            Dialect::Postgres => self.postgres,
        }
    }
}

impl From<&'static str> for Sql {
    fn from(text: &'static str) -> Self {
        Self {
            sqlite: text,
            postgres: text,
        }
    }
}

/// The text of a statement.
#[derive(Debug)]
pub(super) enum Text {
    Fixed(Sql),
    Built(String),
}

/// A statement with its values.
#[derive(Debug)]
pub(super) struct Query<'q> {
    pub(super) text: Text,
    pub(super) values: Vec<Value<'q>>,
}

/// A statement, whose values are bound in the order of their numbers.
pub(super) fn query<'q>(sql: impl Into<Sql>) -> Query<'q> {
    Query {
        text: Text::Fixed(sql.into()),
        values: Vec::new(),
    }
}

impl<'q> Query<'q> {
    pub(super) fn bind(mut self, value: impl Into<Value<'q>>) -> Self {
        self.values.push(value.into());
        self
    }

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

    /// The number in the column `total` of the only row.
    pub(super) async fn total(self, session: &mut dyn Session) -> Result<u64, sqlx::Error> {
        let row = self.fetch_one(session).await?;
        let total: Result<i64, Corrupt> = Columns::of("totals", &row).raw("total");
        total
            .map(count)
            .map_err(|error| sqlx::Error::Decode(error.into()))
    }
}

/// The rows of one page of a list.
#[derive(Debug)]
pub(super) struct Listed {
    pub(super) rows: Vec<Row>,
    pub(super) total: u64,
}

impl Listed {
    /// The readable records of the page; the others are recorded.
    pub(super) fn page<T>(
        &self,
        set_aside: &SetAside,
        read: impl Fn(&Row) -> Result<T, Corrupt>,
    ) -> crate::directory::Page<T> {
        crate::directory::Page {
            items: set_aside.readable(&self.rows, read),
            total: self.total,
        }
    }
}
