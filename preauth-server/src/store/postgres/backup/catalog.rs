//! What the database has, as its catalog says it.

use sqlx::{AssertSqlSafe, PgConnection, Row};

use crate::store::backup::SequenceState;

use super::quoted;

/// A table of the schema.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) name: String,
    /// Whether a crash empties it.
    pub(super) is_unlogged: bool,
}

/// Ordinary, partitioned and foreign tables, and materialized views.
pub(super) async fn tables(connection: &mut PgConnection) -> Result<Vec<Table>, sqlx::Error> {
    let rows = sqlx::query(
        "SELECT relname::TEXT, relpersistence = 'u' FROM pg_class
         WHERE relnamespace = current_schema()::REGNAMESPACE AND relkind IN ('r', 'p', 'f', 'm')
         ORDER BY relname",
    )
    .fetch_all(connection)
    .await?;
    let table = |row: &sqlx::postgres::PgRow| {
        Ok(Table {
            name: row.try_get(0)?,
            is_unlogged: row.try_get(1)?,
        })
    };
    rows.iter().map(table).collect()
}

/// The columns that hold values of their own.
pub(super) async fn columns(
    connection: &mut PgConnection,
    table: &str,
) -> Result<Vec<String>, sqlx::Error> {
    sqlx::query_scalar(
        "SELECT attname::TEXT FROM pg_attribute
         WHERE attrelid = $1::REGCLASS AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
         ORDER BY attnum",
    )
    .bind(quoted(table))
    .fetch_all(connection)
    .await
}

/// The state of all sequences; it does not follow the snapshot, and may be later.
pub(super) async fn sequences(
    connection: &mut PgConnection,
) -> Result<Vec<SequenceState>, sqlx::Error> {
    let rows = sqlx::query(
        "SELECT sequencename::TEXT, cycle FROM pg_sequences WHERE schemaname = current_schema()
         ORDER BY sequencename",
    )
    .fetch_all(&mut *connection)
    .await?;
    let mut sequences = Vec::new();
    for row in rows {
        let name: String = row.try_get(0)?;
        let state = format!("SELECT last_value, is_called FROM {}", quoted(&name));
        let state = sqlx::query(AssertSqlSafe(state))
            .fetch_one(&mut *connection)
            .await?;
        sequences.push(SequenceState {
            name,
            last_value: state.try_get(0)?,
            is_called: state.try_get(1)?,
            cycles: row.try_get(1)?,
        });
    }
    Ok(sequences)
}
