//! Looks where the database's name leads.

use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, Connection};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::Primary;

/// Between two looks, each of which is a new connection.
const PAUSE_BETWEEN_LOOKS: Duration = Duration::from_secs(3);
/// How long one may take.
const LOOK_TIMEOUT: Duration = Duration::from_secs(5);

/// The task that looks; it ends with this value.
#[derive(Debug)]
pub(in super::super) struct Watcher(JoinHandle<()>);

impl Watcher {
    pub(in super::super) fn spawn(primary: Arc<Primary>, options: PgConnectOptions) -> Self {
        Self(tokio::spawn(async move {
            loop {
                sleep(PAUSE_BETWEEN_LOOKS).await;
                // A name that leads nowhere says nothing about the connections that stand.
                if !matches!(
                    timeout(LOOK_TIMEOUT, look(&primary, &options)).await,
                    Ok(Ok(()))
                ) {
                    tracing::debug!("the database's name leads to no primary");
                }
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
    // What it could say about its end is of no interest.
    let _ = connection.close().await;
    admitted
}
