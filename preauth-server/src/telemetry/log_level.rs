//! Which events are logged.

use std::str::FromStr;

use tracing::Level;
use tracing_subscriber::filter::EnvFilter;
use tracing_subscriber::{Registry, reload};

/// Beside the level. The store itself logs once why connections are refused; its pools would log it at each
/// attempt.
const QUIET: &str = "salvo_core=warn,sqlx_core::pool::inner=off";

/// The least important events in the log. The variable `RUST_LOG` comes before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogLevel(Level);

/// Changes what is logged while the server runs.
#[derive(Clone, Debug)]
pub struct LogSwitch(reload::Handle<EnvFilter, Registry>);

impl LogLevel {
    /// Its form, for people.
    pub const FORM: &str = "error, warn, info, debug or trace";

    pub(super) fn filter(self) -> EnvFilter {
        let level = self.0.as_str().to_lowercase();
        EnvFilter::try_from_default_env()
            .unwrap_or_else(|_| EnvFilter::new(format!("{level},{QUIET}")))
    }
}

impl Default for LogLevel {
    fn default() -> Self {
        Self(Level::INFO)
    }
}

impl FromStr for LogLevel {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Ok(Self(match text {
            "error" => Level::ERROR,
            "warn" => Level::WARN,
            "info" => Level::INFO,
            "debug" => Level::DEBUG,
            "trace" => Level::TRACE,
            _ => return Err(()),
        }))
    }
}

impl LogSwitch {
    pub(super) fn new(level: LogLevel) -> (reload::Layer<EnvFilter, Registry>, Self) {
        let (layer, handle) = reload::Layer::new(level.filter());
        (layer, Self(handle))
    }

    /// Logs at this level from now on; `false` if `RUST_LOG` comes before it.
    #[must_use]
    pub fn set(&self, level: LogLevel) -> bool {
        // It fails only when the log has ended.
        let _ = self.0.reload(level.filter());
        EnvFilter::try_from_default_env().is_err()
    }
}
