//! `backup`: copies a SQLite database while its server runs.

use std::path::PathBuf;

use clap::Args;

use crate::clock::Stopwatch;
use crate::config::Config;
use crate::store;

use super::CliError;
use super::serve::ServeArgs;

#[derive(Debug, Args)]
pub(super) struct BackupArgs {
    /// The file to write. It must not exist; it stands there when it is complete.
    target: PathBuf,
    #[command(flatten)]
    serve: ServeArgs,
}

#[expect(clippy::print_stdout, reason = "the outcome is this command's output")]
pub(super) async fn run(args: &BackupArgs) -> Result<(), CliError> {
    let url = Config::database_url(&args.serve.layers())?;
    let stopwatch = Stopwatch::start();
    let backup = store::backup(&url, &args.target).await?;
    let target = args.target.display();
    println!(
        "{target}: {} operations, {} bytes, checked, in {:.1} s\n  next: keep the master key file, and the \
         folder of invoice files, with it; `preauth-server audit --database sqlite://{target} --at-rest` \
         checks it against the rules",
        backup.operations,
        backup.bytes,
        stopwatch.elapsed().as_seconds_f64(),
    );
    Ok(())
}
