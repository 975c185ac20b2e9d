//! `migrate`: migrates the database's schema, or prints what there is to migrate.

use std::process::ExitCode;

use clap::Args;

use crate::config::Config;
use crate::stdout;
use crate::store::{self, PendingSteps};
use crate::telemetry;
use crate::telemetry::{LogFormat, LogLevel};

use super::CliError;
use super::serve::ServeArgs;

/// The exit code when steps are missing.
const BEHIND: u8 = 1;
/// The exit code of a check that could not look, or of a database that this build does not support.
pub(super) const UNSUPPORTED: u8 = 2;

#[derive(Debug, Args)]
pub(super) struct MigrateArgs {
    /// Change nothing, and print the steps that are missing. Ends with 0 when there is none, with 1 when
    /// there are some, with 2 when this build does not support the database or cannot look.
    #[arg(long)]
    pub(super) check: bool,
    #[command(flatten)]
    serve: ServeArgs,
}

pub(super) async fn run(args: &MigrateArgs) -> Result<(), CliError> {
    // A migration that waits for a lock reports it.
    telemetry::start(LogFormat::Text, LogLevel::default());
    let url = Config::database_url(&args.serve.layers())?;
    store::migrate(&url).await?;
    let stores = store::open(&url).await?;
    stores.lifecycle.check().await?;
    stores.lifecycle.close().await;
    Ok(stdout::print("the database's schema is up to date")?)
}

pub(super) async fn check(args: &MigrateArgs) -> Result<ExitCode, CliError> {
    let url = Config::database_url(&args.serve.layers())?;
    let PendingSteps { newest, steps } = store::pending_steps(&url).await?;
    let newest = newest.map_or_else(
        || "the database has no schema yet".to_owned(),
        |newest| format!("the database's schema is at step {newest}"),
    );
    if steps.is_empty() {
        stdout::print(&format!("{newest}; there is nothing to do"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let steps = steps
        .iter()
        .map(|(version, name)| format!("\n  {version} {name}"));
    stdout::print(&format!(
        "{newest}; `preauth-server migrate` will make these steps:{}",
        steps.collect::<String>()
    ))?;
    Ok(ExitCode::from(BEHIND))
}
