//! `restore`: puts a backup into an empty database.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::backup::{self, BackupFolder};
use crate::clock::Stopwatch;
use crate::config::{Config, Layers};
use crate::secret::OperatorToken;
use crate::stdout;
use crate::store;
use crate::telemetry::{self, LogFormat, LogLevel};

use super::CliError;
use super::backup::{file_mode, keys, summary};
use super::serve::ServeArgs;

#[derive(Debug, Args)]
pub(super) struct RestoreArgs {
    /// The backup.
    backup: PathBuf,
    /// Leave the invoice files alone: they are at their place already, where each is looked for.
    #[arg(long)]
    without_files: bool,
    /// Go on without invoice files that are not there.
    #[arg(long)]
    accept_missing: bool,
    #[command(flatten)]
    serve: ServeArgs,
}

pub(super) async fn run(args: &RestoreArgs) -> Result<(), CliError> {
    telemetry::start(LogFormat::Text, LogLevel::default());
    let layers = args.serve.layers();
    let (url, files_place) = Config::backed_up(&layers)?;
    let backup = BackupFolder::open(&args.backup)?;
    let mode = file_mode(args.without_files, args.accept_missing);
    let stopwatch = Stopwatch::start();
    backup::restore(&backup, &url, &files_place, mode).await?;
    store::migrate(&url).await?;
    let text = format!(
        "restored, in {:.1} s: {}\n  next: put {} into its place, run `preauth-server audit --at-rest` and look at \
         it with `serve --quiet-outbound`; no webhook or mail goes out before `preauth-server adopt`\n  {}\n  personal \
         data that was erased after {} is back: erase it again (docs/personal-data.md#backups)",
        stopwatch.elapsed().as_seconds_f64(),
        summary(&backup.manifest),
        keys(&backup.manifest),
        operator_token(&layers),
        backup.manifest.began_at,
    );
    Ok(stdout::print(&text)?)
}

/// What to do about the operator token `root`, which no backup has; those of `operator add` are in the
/// database.
fn operator_token(layers: &Layers) -> String {
    let is_given = |key| !layers.of(key).text.is_empty();
    if is_given("platform_token") || is_given("platform_token_file") {
        return "the configured operator token is in no backup: keep it with the master key file"
            .to_owned();
    }
    let path = OperatorToken::file_in(Path::new(&layers.of("data").text));
    if path.exists() {
        return format!("the operator token is that of {}", path.display());
    }
    format!(
        "the operator token is in no backup: put the old file to {} before the server starts, or the server \
         makes a new one there, and programs that hold the old one are refused; tokens of `operator add` go on",
        path.display()
    )
}
