//! `manual`: a page for `man` of each command, as packages ship them.

use std::path::PathBuf;

use clap::{Args, CommandFactory as _};

use super::{Cli, CliError};

#[derive(Debug, Args)]
pub(super) struct ManualArgs {
    /// The folder to write to; pages that stand there are replaced.
    folder: PathBuf,
}

pub(super) fn run(args: &ManualArgs) -> Result<(), CliError> {
    let folder = &args.folder;
    let cannot = |error| format!("cannot write to {}: {error}", folder.display());
    std::fs::create_dir_all(folder).map_err(cannot)?;
    // Without the groups of `--help`, which are no part of a page.
    clap_mangen::generate_to(Cli::command(), folder).map_err(cannot)?;
    Ok(())
}
