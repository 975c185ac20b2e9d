//! A PostgreSQL database whose own clock a test sets.

use chrono::TimeDelta;
use sqlx::postgres::PgPool;
use sqlx::{AssertSqlSafe, Executor};

/// The clock of a database, for sessions that begin after its creation.
///
/// A function of the same name stands before the server's own in the search path, so that everything
/// that asks this database for its clock is answered by it.
pub struct SettableClock(PgPool);

impl SettableClock {
    /// Makes the clock of the database at this URL settable; until it is set, it is right.
    pub async fn at(url: &str) -> Self {
        let sql = PgPool::connect(url).await.unwrap();
        let name: String = sqlx::query_scalar("SELECT current_database()::TEXT")
            .fetch_one(&sql)
            .await
            .unwrap();
        sql.execute(AssertSqlSafe(format!(
            "CREATE SCHEMA test_clock;
             CREATE TABLE test_clock.ahead (by INTERVAL NOT NULL);
             INSERT INTO test_clock.ahead VALUES ('0');
             CREATE FUNCTION test_clock.clock_timestamp() RETURNS TIMESTAMPTZ LANGUAGE sql VOLATILE AS
                 'SELECT pg_catalog.clock_timestamp() + by FROM test_clock.ahead';
             ALTER DATABASE {name} SET search_path = test_clock, pg_catalog, public"
        )))
        .await
        .unwrap();
        Self(sql)
    }

    /// Sets it ahead of the server's.
    pub async fn set_ahead(&self, ahead: TimeDelta) {
        sqlx::query("UPDATE test_clock.ahead SET by = make_interval(secs => $1)")
            .bind(f64::from(i32::try_from(ahead.num_seconds()).unwrap()))
            .execute(&self.0)
            .await
            .unwrap();
    }
}
