//! `config check`: every setting with its source, and every error.

use crate::config::Config;

use super::CliError;
use super::serve::ServeArgs;

#[expect(clippy::print_stdout, reason = "the report is this command's output")]
pub(super) fn run(args: &ServeArgs) -> Result<(), CliError> {
    let layers = args.layers();
    print!("{}", layers.report());
    Config::from_layers(&layers)?;
    println!("configuration is usable");
    Ok(())
}
