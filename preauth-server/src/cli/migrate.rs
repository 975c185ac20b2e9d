//! `migrate`: brings the database's schema up to date.

use crate::config::Config;
use crate::store;

use super::CliError;
use super::serve::ServeArgs;

#[expect(clippy::print_stdout, reason = "the outcome is this command's output")]
pub(super) async fn run(args: &ServeArgs) -> Result<(), CliError> {
    let config = Config::from_layers(&args.layers())?;
    store::migrate(&config.database_url).await?;
    let stores = store::open(&config.database_url).await?;
    stores.lifecycle.check().await?;
    stores.lifecycle.close().await;
    println!("the database's schema is up to date");
    Ok(())
}
