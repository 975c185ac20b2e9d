//! Whether the server's settings make confirmed commits durable.
//!
//! They may change at any time, and another server behind the same name has its own. So they are
//! checked at the start, on the first connection to another server, and once a minute on a connection
//! that is opened anyway.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgRow};
use sqlx::{ConnectOptions, Connection, PgConnection, Row};
use tokio::time::{Instant, timeout};

const LOOK_TIMEOUT: Duration = Duration::from_secs(5);
/// Minimum time between two checks of one server.
const PAUSE_BETWEEN_LOOKS: Duration = Duration::from_mins(1);

/// The settings of this role in this database with which a confirmed commit may be lost.
const WEAK: &str = "SELECT name || ' = ' || setting AS weak FROM pg_settings
     WHERE (name IN ('fsync', 'full_page_writes') AND setting = 'off')
        OR (name = 'synchronous_commit' AND setting = 'off')
        OR (name = 'synchronous_commit' AND setting = 'local'
            AND current_setting('synchronous_standby_names') <> '')
     ORDER BY name";

/// The settings that were found last.
#[derive(Debug, Default)]
pub(super) struct Durability(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// `None` before the first check, and after one that failed.
    next: Option<Instant>,
    weak: Vec<String>,
}

impl Durability {
    /// Checks the settings over a connection of its own.
    pub(super) async fn check_first(&self, options: &PgConnectOptions) {
        let look = async {
            let mut connection = options.connect().await?;
            self.check(&mut connection, true).await;
            connection.close().await
        };
        // The next use of the database reports a failure.
        let _ = timeout(LOOK_TIMEOUT, look).await;
    }

    /// Checks the settings over a new connection, unless they were checked within the last minute.
    pub(super) async fn check(&self, connection: &mut PgConnection, is_another_server: bool) {
        if !self.begin(Instant::now(), is_another_server) {
            return;
        }
        match weak_settings(connection).await {
            Ok(weak) => self.note(weak),
            Err(_) => self.state().next = None,
        }
    }

    fn begin(&self, now: Instant, is_another_server: bool) -> bool {
        let mut state = self.state();
        let is_due = is_another_server || state.next.is_none_or(|next| next <= now);
        if is_due {
            state.next = now.checked_add(PAUSE_BETWEEN_LOOKS);
        }
        is_due
    }

    /// Logs a change.
    fn note(&self, weak: Vec<String>) {
        let mut state = self.state();
        if weak == state.weak {
            return;
        }
        state.weak = weak;
        if state.weak.is_empty() {
            tracing::info!("PostgreSQL keeps what it has confirmed again");
        } else {
            tracing::warn!(
                "PostgreSQL may lose what it has confirmed, and with it what callers were answered: {}; \
                 set fsync, full_page_writes and synchronous_commit to on",
                state.weak.join(", ")
            );
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) async fn weak_settings(
    connection: &mut PgConnection,
) -> Result<Vec<String>, sqlx::Error> {
    let rows = sqlx::raw_sql(WEAK).fetch_all(connection).await?;
    rows.iter().map(|row: &PgRow| row.try_get("weak")).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;

    use super::Durability;

    #[tokio::test(start_paused = true)]
    async fn one_server_is_checked_once_a_minute_and_another_one_at_once() {
        let durability = Durability::default();
        assert!(durability.begin(Instant::now(), false));
        tokio::time::advance(Duration::from_secs(59)).await;
        assert!(!durability.begin(Instant::now(), false));
        assert!(durability.begin(Instant::now(), true));
        tokio::time::advance(Duration::from_secs(59)).await;
        assert!(!durability.begin(Instant::now(), false));
        tokio::time::advance(Duration::from_secs(1)).await;
        assert!(durability.begin(Instant::now(), false));
    }
}
