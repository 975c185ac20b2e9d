//! Telemetry for operators: the log, one event per fact, for machines, for people, or as the
//! sandbox's story; metrics; and traces.

mod console;
mod log_level;
pub mod metrics;
mod story;
pub mod traces;
mod words;

use std::io::IsTerminal;

use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::language::Language;

pub use console::Console;
pub use log_level::{LogLevel, LogSwitch};
pub use story::{Story, StoryPages};

/// What a listener's requests are counted and traced by.
#[derive(Clone, Debug)]
pub struct RequestTelemetry {
    /// Counts them.
    pub metrics: metrics::RequestMetrics,
    /// Traces them, if traces are sent.
    pub traces: Option<traces::Traces>,
}

/// The format of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// One JSON object per line.
    Json,
    /// For people.
    Text,
}

/// Starts the log of a server, on standard error; its level may be changed.
pub fn start(format: LogFormat, level: LogLevel) -> LogSwitch {
    let layer = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let (filter, switch) = LogSwitch::new(level);
    let registry = tracing_subscriber::registry().with(filter);
    match format {
        LogFormat::Json => registry.with(layer.json().flatten_event(true)).init(),
        LogFormat::Text => {
            registry
                .with(layer.with_ansi(std::io::stderr().is_terminal()))
                .init();
        }
    }
    log_panics();
    switch
}

/// Starts the sandbox's story, on standard output.
pub fn start_story(console: &Console, language: Language, pages: &StoryPages) {
    let story = Story {
        ansi: std::io::stdout().is_terminal(),
        language,
        pages: pages.clone(),
    };
    let layer = tracing_subscriber::fmt::layer().event_format(story);
    tracing_subscriber::registry()
        .with(LogLevel::default().filter())
        .with(layer.with_writer(console.clone()))
        .init();
    log_panics();
}

/// Logs a panic as one event with its location, in the log's own format.
fn log_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string);
        let payload = panic.payload();
        let message = payload
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        tracing::error!(target: "panic", place, message, "panicked");
    }));
}
