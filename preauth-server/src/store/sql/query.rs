//! A statement with its values.

use super::value::Value;

/// A database's SQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store) enum Dialect {
    Sqlite,
    Postgres,
}

/// The text of a statement in each database's dialect, see `sql!`.
#[derive(Clone, Copy, Debug)]
pub(in crate::store) struct Sql {
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
pub(in crate::store) struct Query<'q> {
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
}
