//! A transaction of a test that blocks other writers of the server's database.

use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, SqliteConnection};
use test_support::Sandbox;

pub(crate) enum WriteLock {
    Sqlite(SqliteConnection),
    Postgres(PgConnection),
}

impl WriteLock {
    /// Of every table.
    pub(crate) async fn of_all(sandbox: &Sandbox) -> Self {
        let tables = "SELECT quote_ident(tablename) FROM pg_tables WHERE schemaname = 'public'";
        Self::of(sandbox, tables).await
    }

    /// Of the operations; SQLite has one writer of everything.
    pub(crate) async fn of_operations(sandbox: &Sandbox) -> Self {
        Self::of(sandbox, "SELECT 'operations'").await
    }

    /// Of the tables that a query names.
    async fn of(sandbox: &Sandbox, tables: &'static str) -> Self {
        let Some(url) = sandbox.database_url() else {
            let path = sandbox.data().join("preauth.db");
            let url = format!("sqlite://{}", path.display());
            let mut connection = SqliteConnection::connect(&url).await.unwrap();
            connection.execute("BEGIN IMMEDIATE").await.unwrap();
            return Self::Sqlite(connection);
        };
        let mut connection = PgConnection::connect(&url).await.unwrap();
        let tables: Vec<String> = sqlx::query_scalar(tables)
            .fetch_all(&mut connection)
            .await
            .unwrap();
        let lock = format!("BEGIN; LOCK TABLE {} IN SHARE MODE", tables.join(", "));
        connection.execute(AssertSqlSafe(lock)).await.unwrap();
        Self::Postgres(connection)
    }

    pub(crate) async fn let_go(self) {
        match self {
            Self::Sqlite(mut connection) => drop(connection.execute("ROLLBACK").await.unwrap()),
            Self::Postgres(mut connection) => drop(connection.execute("ROLLBACK").await.unwrap()),
        }
    }
}
