//! Whether the server's settings make confirmed commits durable.

use sqlx::postgres::{PgConnectOptions, PgRow};
use sqlx::{ConnectOptions, Connection, Row};
use std::time::Duration;
use tokio::time::timeout;

const LOOK_TIMEOUT: Duration = Duration::from_secs(5);

/// The settings of this role in this database with which a confirmed commit may be lost.
const WEAK: &str = "SELECT name || ' = ' || setting AS weak FROM pg_settings
     WHERE (name IN ('fsync', 'full_page_writes') AND setting = 'off')
        OR (name = 'synchronous_commit' AND setting = 'off')
        OR (name = 'synchronous_commit' AND setting = 'local'
            AND current_setting('synchronous_standby_names') <> '')
     ORDER BY name";

/// Logs a warning if there are such settings.
pub(super) async fn warn(options: &PgConnectOptions) {
    match timeout(LOOK_TIMEOUT, weak_settings(options)).await {
        Ok(Ok(weak)) if weak.is_empty() => {}
        Ok(Ok(weak)) => tracing::warn!(
            "PostgreSQL may lose what it has confirmed, and with it what callers were answered: {}; \
             set fsync, full_page_writes and synchronous_commit to on",
            weak.join(", ")
        ),
        // The next use of the database reports the failure.
        Ok(Err(_)) | Err(_) => {}
    }
}

async fn weak_settings(options: &PgConnectOptions) -> Result<Vec<String>, sqlx::Error> {
    let mut connection = options.connect().await?;
    let rows = sqlx::raw_sql(WEAK).fetch_all(&mut connection).await?;
    connection.close().await?;
    rows.iter().map(|row: &PgRow| row.try_get("weak")).collect()
}
