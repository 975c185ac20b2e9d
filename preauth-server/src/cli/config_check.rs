//! `config check`: every setting with its source, and every error.

use crate::config::Config;
use crate::stdout;

use super::CliError;
use super::serve::ServeArgs;

pub(super) fn run(args: &ServeArgs) -> Result<(), CliError> {
    let layers = args.layers();
    stdout::print(&layers.report())?;
    Config::from_layers_and_files(&layers)?;
    Ok(stdout::print("configuration is usable")?)
}
