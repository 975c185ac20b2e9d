//! A server whose PostgreSQL may lose confirmed commits logs a warning at its start.

use sqlx::{AssertSqlSafe, Executor};
use test_support::Database;

use super::server::start_on;

const WARNING: &str = "PostgreSQL may lose what it has confirmed";

#[tokio::test]
async fn settings_that_lose_confirmed_commits_are_logged_once_at_the_start() {
    let database = Database::empty().await;
    let sql = database.sql().await;
    let name = database.name();
    let off = format!("ALTER DATABASE {name} SET synchronous_commit = off");
    sql.execute(AssertSqlSafe(off)).await.unwrap();
    let sandbox = start_on(&database).await;
    let log = sandbox.log();
    let lines: Vec<_> = log.lines().filter(|line| line.contains(WARNING)).collect();
    assert_eq!(lines.len(), 1, "{log}");
    for expected in ["synchronous_commit = off", "set fsync"] {
        assert!(lines[0].contains(expected), "{}", lines[0]);
    }
}
