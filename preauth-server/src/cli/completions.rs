//! `completions`: what a shell needs to complete commands and options.

use clap::Args;
use clap_complete::Shell;

use crate::stdout;

use super::CliError;

#[derive(Clone, Copy, Debug, Args)]
pub(super) struct CompletionsArgs {
    /// The shell.
    shell: Shell,
}

pub(super) fn run(args: CompletionsArgs) -> Result<(), CliError> {
    let mut command = super::command();
    let name = command.get_name().to_owned();
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut command, name, &mut text);
    // Not straight to it: the generator panics when the reader closes the pipe.
    Ok(stdout::print(&String::from_utf8(text)?)?)
}
