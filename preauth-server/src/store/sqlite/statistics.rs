//! Statistics of tables, which this store does without: each statement has one sensible plan. By those of small tables SQLite
//! would read the same tables from end to end once they are large, and nobody would make them anew.

use sqlx::{AssertSqlSafe, Connection, SqliteConnection};

/// Drops the statistics that somebody else's tool has made (`ANALYZE`, `PRAGMA optimize`) in a transaction of its own.
pub(super) async fn drop_at_start(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    drop_all(&mut transaction).await?;
    transaction.commit().await
}

/// The same in a transaction that writes. Every connection plans its statements anew.
pub(super) async fn drop_all(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    let tables: Vec<String> = sqlx::query_scalar(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'sqlite_stat[0-9]'",
    )
    .fetch_all(&mut *connection)
    .await?;
    if tables.is_empty() {
        return Ok(());
    }
    for table in tables {
        // SQLite's own names.
        sqlx::query(AssertSqlSafe(format!("DROP TABLE {table}")))
            .execute(&mut *connection)
            .await?;
    }
    // The others notice the change. This connection would keep what it has loaded until it reads its schema again.
    let version: i64 = sqlx::query_scalar("PRAGMA schema_version")
        .fetch_one(&mut *connection)
        .await?;
    let next = version.wrapping_add(1);
    sqlx::query(AssertSqlSafe(format!("PRAGMA schema_version = {next}")))
        .execute(connection)
        .await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use sqlx::{Connection, Row, SqliteConnection};

    use super::drop_at_start;

    /// By these statistics an index finds no less than the table.
    const MISLEADING: &str = "CREATE TABLE offers (id INTEGER PRIMARY KEY, number TEXT);
         CREATE INDEX offers_by_number ON offers (number);
         ANALYZE;
         INSERT INTO sqlite_stat1 VALUES ('offers', 'offers_by_number', '1000000 1000000');
         ANALYZE sqlite_schema";

    async fn plan(connection: &mut SqliteConnection) -> String {
        // Only a statement that reads finds that the schema has changed.
        let read = sqlx::query("SELECT count(*) FROM offers");
        read.fetch_one(&mut *connection).await.unwrap();
        let explain = sqlx::raw_sql("EXPLAIN QUERY PLAN SELECT id FROM offers WHERE number = '1'");
        let line = explain.fetch_one(connection).await.unwrap();
        line.get("detail")
    }

    #[tokio::test]
    async fn the_connection_that_drops_statistics_plans_without_them() {
        let mut connection = SqliteConnection::connect("sqlite::memory:").await.unwrap();
        let made = sqlx::raw_sql(MISLEADING).execute(&mut connection);
        made.await.unwrap();
        assert!(plan(&mut connection).await.starts_with("SCAN"));
        drop_at_start(&mut connection).await.unwrap();
        assert!(plan(&mut connection).await.starts_with("SEARCH"));
        drop_at_start(&mut connection).await.unwrap();
    }
}
