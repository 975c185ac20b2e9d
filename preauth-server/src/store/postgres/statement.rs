//! A statement that is put together from parts: rows that go in, and what is done with them.

use sqlx::postgres::Postgres;
use sqlx::query::Query;
use sqlx::{Encode, QueryBuilder, Type};

/// One `WITH` statement in the making. The same parts give the same text, which the database has
/// planned already.
pub(super) struct Statement {
    query: QueryBuilder<Postgres>,
    separator: &'static str,
    /// The part that names the rows which sources leave out.
    left_out: Option<&'static str>,
}

impl Statement {
    pub(super) fn new() -> Self {
        Self {
            query: QueryBuilder::default(),
            separator: "WITH ",
            left_out: None,
        }
    }

    /// Adds one named part.
    pub(super) fn part(&mut self, sql: &'static str) {
        self.query.push(self.separator).push(sql);
        self.separator = ", ";
    }

    /// Adds the part `name`, which gives the column `n` of all of `parts`.
    pub(super) fn union(&mut self, name: &'static str, parts: &[&'static str]) {
        self.query.push(self.separator).push(name);
        self.query.push(" AS MATERIALIZED (SELECT n FROM ");
        self.query.push(parts.join(" UNION ALL SELECT n FROM "));
        self.query.push(")");
        self.separator = ", ";
    }

    /// Adds the part `name`, which gives what all of `selects` give.
    pub(super) fn selects(&mut self, name: &'static str, selects: &[&'static str]) {
        self.query.push(self.separator).push(name);
        self.query.push(" AS MATERIALIZED (");
        self.query.push(selects.join(" UNION ALL "));
        self.query.push(")");
        self.separator = ", ";
    }

    /// Has every source from now on leave out the rows whose `n` the part `name` gives.
    pub(super) const fn leave_out(&mut self, name: &'static str) {
        self.left_out = Some(name);
    }

    /// Begins a part that gives rows, a column at a time; [`Statement::close`] ends it.
    pub(super) fn open(&mut self, name: &'static str, columns: &[&'static str]) {
        self.query.push(self.separator).push(name);
        self.query.push(" (").push(columns.join(", "));
        self.query.push(") AS (SELECT * FROM unnest(");
        self.separator = "";
    }

    /// Adds the values of one column.
    pub(super) fn column<'t, T>(&mut self, values: Vec<T>)
    where
        Vec<T>: Encode<'t, Postgres> + Type<Postgres>,
    {
        self.query.push(self.separator).push_bind(values);
        self.separator = ", ";
    }

    /// Ends a part that gives rows; the number of its commit is the first of its columns.
    pub(super) fn close(&mut self) {
        match self.left_out {
            None => self.query.push("))"),
            Some(name) => self
                .query
                .push(") AS source (n) WHERE n NOT IN (SELECT n FROM ")
                .push(name)
                .push("))"),
        };
        self.separator = ", ";
    }

    /// Ends the statement with what it answers.
    pub(super) fn answer(
        &mut self,
        sql: &'static str,
    ) -> Query<'_, Postgres, sqlx::postgres::PgArguments> {
        self.query.push(" ").push(sql);
        self.query.build()
    }
}

/// Declares a row and the columns in which many of them go into a [`Statement`], where they are
/// called `$source`.
macro_rules! rows {
    (
        $(#[$meta:meta])*
        $row:ident, $rows:ident as $source:literal { $($column:ident: $type:ty,)+ }
    ) => {
        $(#[$meta])*
        struct $row<'a> {
            $($column: $type,)+
        }

        $(#[$meta])*
        #[derive(Default)]
        pub(super) struct $rows<'a> {
            $($column: Vec<$type>,)+
        }

        impl<'a> $rows<'a> {
            fn push(&mut self, row: $row<'a>) {
                $(self.$column.push(row.$column);)+
            }

            /// Adds the rows; `false`, and nothing added, when there are none.
            pub(super) fn source(self, statement: &mut Statement) -> bool {
                if self.n.is_empty() {
                    return false;
                }
                statement.open($source, &[$(stringify!($column)),+]);
                $(statement.column(self.$column);)+
                statement.close();
                true
            }
        }
    };
}
pub(super) use rows;
