//! What the server sends to the sessions of a store besides answers. The driver emits it as events.

use std::sync::{Arc, Mutex};

use test_support::Database;
use tracing::field::{Field, Visit};
use tracing::subscriber::DefaultGuard;
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

/// The target of the driver's events about notices.
const NOTICES: &str = "sqlx::postgres::notice";

/// The notices received on this thread.
pub(crate) struct Notices {
    received: Arc<Mutex<Vec<String>>>,
    _listening: DefaultGuard,
}

impl Notices {
    /// Gives settings to the sessions of a database that start from now on, and subscribes.
    pub(crate) async fn of(database: &Database, settings: &[(&str, &str)]) -> Self {
        let sql = database.sql().await;
        for (name, value) in settings {
            let set = format!("ALTER DATABASE {} SET {name} = '{value}'", database.name());
            sqlx::raw_sql(sqlx::AssertSqlSafe(set))
                .execute(&sql)
                .await
                .unwrap();
        }
        let received = Arc::default();
        let subscriber = tracing_subscriber::registry().with(Listener(Arc::clone(&received)));
        Self {
            received,
            _listening: tracing::subscriber::set_default(subscriber),
        }
    }

    /// Those since the last call.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.received.lock().unwrap())
    }
}

struct Listener(Arc<Mutex<Vec<String>>>);

impl<S: Subscriber> Layer<S> for Listener {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        if event.metadata().target() == NOTICES {
            event.record(&mut Message(&self.0));
        }
    }
}

struct Message<'a>(&'a Mutex<Vec<String>>);

impl Visit for Message<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "message" {
            self.0.lock().unwrap().push(value.to_owned());
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn std::fmt::Debug) {}
}
