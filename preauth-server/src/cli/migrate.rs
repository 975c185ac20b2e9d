//! `migrate`: migrates the database's schema.

use crate::config::Config;
use crate::store;
use crate::telemetry;
use crate::telemetry::LogFormat;

use super::CliError;
use super::serve::ServeArgs;

#[expect(clippy::print_stdout, reason = "the outcome is this command's output")]
pub(super) async fn run(args: &ServeArgs) -> Result<(), CliError> {
    // A migration that waits for a lock reports it.
    telemetry::start(LogFormat::Text);
    let url = Config::database_url(&args.layers())?;
    store::migrate(&url).await?;
    let stores = store::open(&url).await?;
    stores.lifecycle.check().await?;
    stores.lifecycle.close().await;
    println!("the database's schema is up to date");
    Ok(())
}
