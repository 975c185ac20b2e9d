//! The two drivers as sessions.

use futures_util::future::BoxFuture;
use sqlx::postgres::{PgArguments, PgConnection, Postgres};
use sqlx::sqlite::{Sqlite, SqliteArguments, SqliteConnection};
use sqlx::{AssertSqlSafe, SqlSafeStr};
use uuid::Uuid;

use super::query::{Dialect, Query, Text};
use super::session::{Row, Session};
use super::value::Value;

/// Implements [`Session`] for a connection; `$list` converts a list of ids to a bound value, `$other`
/// one of numbers or texts.
macro_rules! session {
    ($connection:ty, $database:ident, $arguments:ty, |$ids:ident| $list:expr, |$values:ident| $other:expr) => {
        impl Session for $connection {
            fn dialect(&self) -> Dialect {
                Dialect::$database
            }

            fn execute<'s>(
                &'s mut self,
                query: Query<'s>,
            ) -> BoxFuture<'s, Result<u64, sqlx::Error>> {
                Box::pin(async move {
                    let done = <$connection>::bound(query).execute(self).await?;
                    Ok(done.rows_affected())
                })
            }

            fn fetch_optional<'s>(
                &'s mut self,
                query: Query<'s>,
            ) -> BoxFuture<'s, Result<Option<Row>, sqlx::Error>> {
                Box::pin(async move {
                    let row = <$connection>::bound(query).fetch_optional(self).await?;
                    Ok(row.map(Row::$database))
                })
            }

            fn fetch_all<'s>(
                &'s mut self,
                query: Query<'s>,
            ) -> BoxFuture<'s, Result<Vec<Row>, sqlx::Error>> {
                Box::pin(async move {
                    let rows = <$connection>::bound(query).fetch_all(self).await?;
                    Ok(rows.into_iter().map(Row::$database).collect())
                })
            }
        }

        impl Bound for $connection {
            type Query = sqlx::query::Query<'static, $database, $arguments>;

            fn bound(query: Query<'_>) -> Self::Query {
                let text = match query.text {
                    Text::Fixed(sql) => sql.text(Dialect::$database).into_sql_str(),
                    // Values are bound, and never part of a built text.
                    Text::Built(text) => AssertSqlSafe(text).into_sql_str(),
                };
                let bind = |statement: Self::Query, value: Value<'_>| match value {
                    Value::Text(it) => statement.bind(it.as_deref()),
                    Value::Blob(it) => statement.bind(it.as_deref()),
                    Value::Whole(it) => statement.bind(it),
                    Value::Flag(it) => statement.bind(it),
                    Value::Uuid(it) => statement.bind(it),
                    Value::Uuids($ids) => statement.bind($list),
                    Value::Wholes($values) => statement.bind($other),
                    Value::Texts($values) => statement.bind($other),
                };
                query.values.into_iter().fold(sqlx::query(text), bind)
            }
        }
    };
}

/// A statement for one driver.
trait Bound {
    type Query;

    fn bound(query: Query<'_>) -> Self::Query;
}

session!(PgConnection, Postgres, PgArguments, |ids| ids, |values| {
    values
});
session!(
    SqliteConnection,
    Sqlite,
    SqliteArguments,
    |ids| id_list(&ids),
    |values| serde_json::json!(values).to_string()
);

/// A list of ids as a JSON text of hexadecimal numbers.
pub(in crate::store) fn id_list(ids: &[Uuid]) -> String {
    let quoted: Vec<String> = ids
        .iter()
        .map(|id| format!("\"{}\"", id.as_simple()))
        .collect();
    format!("[{}]", quoted.join(","))
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::id_list;

    #[test]
    fn ids_are_listed_in_hexadecimal() {
        let ids = [Uuid::from_u128(1), Uuid::from_u128(0xAB)];
        let expected = "[\"00000000000000000000000000000001\",\
                         \"000000000000000000000000000000ab\"]";
        assert_eq!(id_list(&ids), expected);
        assert_eq!(id_list(&[]), "[]");
    }
}
