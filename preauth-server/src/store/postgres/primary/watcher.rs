//! Watches where the database's name leads.

use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, Connection};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use crate::store::error::said;

use super::Primary;

/// Pause between two checks, each of which is a new connection.
const PAUSE_BETWEEN_LOOKS: Duration = Duration::from_secs(3);
/// Timeout of one check.
const LOOK_TIMEOUT: Duration = Duration::from_secs(5);

/// The checking task; dropping this value ends it.
#[derive(Debug)]
pub(in super::super) struct Watcher(JoinHandle<()>);

impl Watcher {
    /// Watches what `options` lead to, which is called `database` in the log.
    pub(in super::super) fn spawn(
        primary: Arc<Primary>,
        options: PgConnectOptions,
        database: String,
    ) -> Self {
        Self(tokio::spawn(async move {
            loop {
                sleep(PAUSE_BETWEEN_LOOKS).await;
                // A failed name look-up proves nothing about the open connections.
                let looked = timeout(LOOK_TIMEOUT, look(&primary, &options)).await;
                let failure = match looked {
                    // That it is not used is noted elsewhere.
                    Ok(Ok(()) | Err(sqlx::Error::Configuration(_))) => None,
                    Ok(Err(error)) => Some(said(&error)),
                    Err(_) => Some(format!("no answer within {} s", LOOK_TIMEOUT.as_secs())),
                };
                let failure = failure
                    .map(|why| format!("no connection to the database at {database}: {why}"));
                primary.note_connection(failure);
            }
        }))
    }

    pub(in super::super) fn end(&self) {
        self.0.abort();
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.end();
    }
}

async fn look(primary: &Primary, options: &PgConnectOptions) -> Result<(), sqlx::Error> {
    let mut connection = options.connect().await?;
    let admitted = primary.admit(&mut connection).await;
    // A failure to close is irrelevant.
    let _ = connection.close().await;
    admitted
}
