//! The typed configuration: from file, environment and flags, each value with its source.

mod connections;
mod deployment;
mod files;
mod layers;
mod mail;
mod needed_files;
mod operators;
mod password;
mod portal;
mod reader;
mod settings;
mod traces;
mod typed;
mod webhooks;

pub use layers::{Layers, Source, Value};
pub use needed_files::no_master_key;
pub use operators::TokenSource;
pub use portal::Portal;
pub use settings::{SETTINGS, Setting};
pub use typed::{AuditSettings, Config};
pub use webhooks::Webhooks;

use thiserror::Error;

/// All problems of a configuration.
#[derive(Debug, Error)]
#[error("configuration is not usable:\n{}", .0.iter().map(|problem| format!("  - {problem}")).collect::<Vec<_>>().join("\n"))]
pub struct ConfigError(pub Vec<String>);
