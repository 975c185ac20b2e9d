//! The statements that a store executes, as the driver reports them.

use std::fmt::Debug;
use std::sync::{Arc, Mutex, OnceLock};

use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

/// The target of the driver's events about statements.
const STATEMENTS: &str = "sqlx::query";

/// Every statement that was executed in this process since it began to listen.
#[derive(Clone, Default)]
pub(crate) struct Statements(Arc<Mutex<Vec<String>>>);

impl Statements {
    /// The statements from now on; the driver reports them on threads of its own.
    pub(crate) fn listen() -> Self {
        static HEARD: OnceLock<Statements> = OnceLock::new();
        let heard = HEARD.get_or_init(|| {
            let heard = Self::default();
            let listening = tracing_subscriber::registry().with(heard.clone());
            tracing::subscriber::set_global_default(listening).unwrap();
            heard
        });
        heard.take();
        heard.clone()
    }

    /// Those since the last call.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

impl<S: Subscriber> Layer<S> for Statements {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        if event.metadata().target() == STATEMENTS {
            let mut texts = Texts::default();
            event.record(&mut texts);
            let whole = [texts.statement, texts.summary].into_iter();
            let text = whole
                .map(|it| it.trim().to_owned())
                .find(|it| !it.is_empty());
            self.0.lock().unwrap().extend(text);
        }
    }
}

/// A short statement is its own summary.
#[derive(Default)]
struct Texts {
    summary: String,
    statement: String,
}

impl Visit for Texts {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "summary" => value.clone_into(&mut self.summary),
            "db.statement" => value.clone_into(&mut self.statement),
            _ => {}
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.record_str(field, &format!("{value:?}"));
    }
}
