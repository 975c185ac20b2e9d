//! Notifies the dispatchers of all instances when deliveries are due.
//!
//! These are only hints: a dispatcher's own polls find what is missed. A notification is sent
//! separately from its commit, because PostgreSQL serializes the commits of transactions that
//! notify.

use std::sync::Arc;
use std::time::Duration;

use sqlx::Executor;
use sqlx::postgres::{PgConnectOptions, PgListener, PgPoolOptions};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use crate::ids::random_bytes;
use crate::store::error::Fault;

use super::connections::Connections;
use super::primary::{self, Primary};

const CHANNEL: &str = "preauth_deliveries";
/// Minimum interval between two notifications: one replaces many.
const PAUSE_AFTER_SENDING: Duration = Duration::from_millis(20);
/// After this time without a notification a listener tests its connection.
const SILENCE: Duration = Duration::from_secs(20);
/// Timeout of every step of sending or listening.
const PATIENCE: Duration = Duration::from_secs(5);
/// Pause between two attempts to listen.
const PAUSE_BEFORE_LISTENING: Duration = Duration::from_secs(1);

/// Notifies this instance's dispatcher, and those of others.
#[derive(Debug)]
pub(super) struct Wake {
    here: Arc<Notify>,
    elsewhere: Arc<Notify>,
    committed: Arc<Notify>,
    tasks: [JoinHandle<()>; 2],
}

impl Wake {
    /// Starts sending and listening.
    pub(super) fn spawn(
        connections: Connections,
        options: PgConnectOptions,
        primary: &Arc<Primary>,
    ) -> Self {
        let here = Arc::new(Notify::new());
        let elsewhere = Arc::new(Notify::new());
        // The instance's name in each notification, so that it ignores its own.
        let name = hex::encode(random_bytes::<8>());
        let tasks = [
            tokio::spawn(send(connections, Arc::clone(&elsewhere), name.clone())),
            tokio::spawn(listen(
                options,
                Arc::clone(primary),
                Arc::clone(&here),
                name,
            )),
        ];
        Self {
            here,
            elsewhere,
            committed: Arc::default(),
            tasks,
        }
    }

    /// Notifies this instance's dispatcher now, and those of others soon.
    pub(super) fn all(&self) {
        self.here.notify_one();
        self.elsewhere.notify_one();
    }

    /// Is notified when this instance has committed an event.
    pub(super) fn committed(&self) -> Arc<Notify> {
        Arc::clone(&self.committed)
    }

    pub(super) fn waiting(&self) -> Arc<Notify> {
        Arc::clone(&self.here)
    }

    pub(super) fn end(&self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

impl Drop for Wake {
    fn drop(&mut self) {
        self.end();
    }
}

async fn send(connections: Connections, elsewhere: Arc<Notify>, name: String) {
    loop {
        elsewhere.notified().await;
        let sent = timeout(PATIENCE, notify(&connections, &name));
        if !matches!(sent.await, Ok(Ok(()))) {
            tracing::debug!("other instances were not woken");
        }
        sleep(PAUSE_AFTER_SENDING).await;
    }
}

async fn notify(connections: &Connections, name: &str) -> Result<(), Fault> {
    let mut lent = connections.acquire().await?;
    let notify = sqlx::query("SELECT pg_notify($1, $2)")
        .bind(CHANNEL)
        .bind(name);
    let sent = notify.execute(lent.connection()?).await;
    lent.return_after(sent.map_err(Fault::from)).map(drop)
}

async fn listen(options: PgConnectOptions, primary: Arc<Primary>, here: Arc<Notify>, name: String) {
    let mut switches = primary.switches();
    loop {
        if let Ok(listener) = begin(options.clone(), &primary).await {
            // Notifications may have been missed while nothing listened.
            here.notify_one();
            tokio::select! {
                () = wake_on_notifications(listener, &here, &name) => {}
                // After a switch the others notify on the new server.
                _ = switches.changed() => {}
            }
        }
        sleep(PAUSE_BEFORE_LISTENING).await;
    }
}

/// Uses a new pool each time: a listener takes no connection away from requests, and the previous
/// connection may still wait for a server that does not answer.
async fn begin(
    options: PgConnectOptions,
    primary: &Arc<Primary>,
) -> Result<PgListener, sqlx::Error> {
    let pool = PgPoolOptions::new()
        .max_connections(1)
        .acquire_timeout(PATIENCE)
        .max_lifetime(None)
        .idle_timeout(None);
    let pool = primary::admitting(pool, primary, None).connect_lazy_with(options);
    let mut listener = PgListener::connect_with(&pool).await?;
    listener.listen(CHANNEL).await?;
    Ok(listener)
}

/// Forwards notifications of other instances until the connection is lost.
async fn wake_on_notifications(mut listener: PgListener, here: &Notify, name: &str) {
    listener.eager_reconnect(false);
    loop {
        match timeout(SILENCE, listener.try_recv()).await {
            Ok(Ok(Some(notification))) if notification.payload() == name => {}
            Ok(Ok(Some(_))) => here.notify_one(),
            Ok(Ok(None) | Err(_)) => return,
            Err(_) => {
                let ping = timeout(PATIENCE, listener.execute("")).await;
                if !matches!(ping, Ok(Ok(_))) {
                    return;
                }
            }
        }
    }
}
