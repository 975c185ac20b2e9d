//! Statistics of tables, which this store does without: each statement has one sensible plan. By those of small tables SQLite
//! would read the same tables from end to end once they are large, and nobody would make them anew.

use sqlx::{AssertSqlSafe, SqliteConnection};

/// Drops the statistics that somebody else's tool has made (`ANALYZE`, `PRAGMA optimize`). Every connection notices, and
/// plans its statements anew.
pub(super) async fn drop_all(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    let tables: Vec<String> = sqlx::query_scalar(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'sqlite_stat[0-9]'",
    )
    .fetch_all(&mut *connection)
    .await?;
    for table in tables {
        // SQLite's own names.
        sqlx::query(AssertSqlSafe(format!("DROP TABLE {table}")))
            .execute(&mut *connection)
            .await?;
    }
    Ok(())
}
