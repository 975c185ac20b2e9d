//! A statement that is built from parts: rows as input, and the parts that use them.

use sqlx::postgres::Postgres;
use sqlx::query::Query;
use sqlx::{Encode, QueryBuilder, Type};

/// A `WITH` statement under construction. The same parts give the same text, whose plan the
/// database has cached.
pub(super) struct Statement {
    query: QueryBuilder<Postgres>,
    separator: &'static str,
    /// The part with the rows that sources leave out.
    left_out: Option<&'static str>,
    /// Whether it is for one caller. A source with one row has its values as they are: for arrays the database does
    /// more than for the row. Not in a group, or each combination of sources with one row would be a statement of its own.
    is_lone: bool,
    /// Whether the source under construction has its values as they are.
    has_values: bool,
}

impl Statement {
    /// A statement for `callers`.
    pub(super) fn of(callers: usize) -> Self {
        Self {
            query: QueryBuilder::default(),
            separator: "WITH ",
            left_out: None,
            is_lone: callers == 1,
            has_values: false,
        }
    }

    /// Adds a named part.
    pub(super) fn part(&mut self, sql: &'static str) {
        self.query.push(self.separator).push(sql);
        self.separator = ", ";
    }

    /// Adds the part `name`, the union of column `n` of `parts`.
    pub(super) fn union(&mut self, name: &'static str, parts: &[&'static str]) {
        self.query.push(self.separator).push(name);
        self.query.push(" AS MATERIALIZED (SELECT n FROM ");
        self.query.push(parts.join(" UNION ALL SELECT n FROM "));
        self.query.push(")");
        self.separator = ", ";
    }

    /// Adds the part `name`, the union of `selects`.
    pub(super) fn selects(&mut self, name: &'static str, selects: &[&'static str]) {
        self.query.push(self.separator).push(name);
        self.query.push(" AS MATERIALIZED (");
        self.query.push(selects.join(" UNION ALL "));
        self.query.push(")");
        self.separator = ", ";
    }

    /// From now on every source leaves out the rows whose `n` is in the part `name`.
    pub(super) const fn leave_out(&mut self, name: &'static str) {
        self.left_out = Some(name);
    }

    /// Begins a part with that many input rows, column by column; [`Statement::close`] ends it.
    pub(super) fn open(&mut self, name: &'static str, columns: &[&'static str], rows: usize) {
        self.has_values = self.is_lone && rows == 1 && self.left_out.is_none();
        self.query.push(self.separator).push(name);
        self.query.push(" (").push(columns.join(", "));
        self.query.push(if self.has_values {
            ") AS (SELECT "
        } else {
            ") AS (SELECT * FROM unnest("
        });
        self.separator = "";
    }

    /// Adds the values of one column.
    pub(super) fn column<'t, T>(&mut self, values: Vec<T>)
    where
        T: Encode<'t, Postgres> + Type<Postgres>,
        Vec<T>: Encode<'t, Postgres> + Type<Postgres>,
    {
        self.query.push(self.separator);
        if self.has_values {
            for value in values {
                self.query.push_bind(value);
            }
        } else {
            self.query.push_bind(values);
        }
        self.separator = ", ";
    }

    /// Ends a part with input rows; their first column is the number of the commit.
    pub(super) fn close(&mut self) {
        match self.left_out {
            None if self.has_values => self.query.push(")"),
            None => self.query.push("))"),
            Some(name) => self
                .query
                .push(") AS source (n) WHERE n NOT IN (SELECT n FROM ")
                .push(name)
                .push("))"),
        };
        self.separator = ", ";
    }

    /// Ends the statement with its final query.
    pub(super) fn answer(
        &mut self,
        sql: &'static str,
    ) -> Query<'_, Postgres, sqlx::postgres::PgArguments> {
        self.query.push(" ").push(sql);
        self.query.build()
    }
}

/// Rows of a [`Statement`].
pub(super) trait Rows {
    /// Adds a row of the caller `n` that refers to nothing.
    fn add_blank(&mut self, n: i32);
}

/// Declares a row type and the columns in which rows are passed to a [`Statement`], where they are
/// called `$source`.
macro_rules! rows {
    (
        $(#[$meta:meta])*
        $row:ident, $rows:ident as $source:literal { $($column:ident: $type:ty,)+ }
    ) => {
        $(#[$meta])*
        #[derive(Default)]
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

            /// Adds the rows; returns `false` when there are none.
            pub(super) fn source(self, statement: &mut Statement) -> bool {
                if self.n.is_empty() {
                    return false;
                }
                statement.open($source, &[$(stringify!($column)),+], self.n.len());
                $(statement.column(self.$column);)+
                statement.close();
                true
            }
        }

        impl $crate::store::postgres::statement::Rows for $rows<'_> {
            fn add_blank(&mut self, n: i32) {
                self.push($row { n, ..$row::default() });
            }
        }
    };
}
pub(super) use rows;

/// A query with input rows, column by column: with the text `$one` and their values as they are for one row, otherwise
/// with the text `$many` and arrays.
macro_rules! query_of {
    ($one:expr, $many:expr; $($column:ident),+) => {
        match ($(&*$column,)+) {
            ($([$column],)+) => sqlx::query($one)$(.bind($column))+,
            _ => sqlx::query($many)$(.bind(&$column))+,
        }
    };
}
pub(super) use query_of;
