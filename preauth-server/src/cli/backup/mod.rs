//! `backup`: copies the database and the invoice files while servers work on them, and checks copies.

mod verify;

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::backup::{self, FileMode, Manifest};
use crate::clock::Stopwatch;
use crate::config::Config;
use crate::stdout;

use super::CliError;
use super::serve::ServeArgs;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct BackupArgs {
    #[command(subcommand)]
    command: Option<BackupCommand>,
    #[command(flatten)]
    make: MakeArgs,
}

#[derive(Debug, Subcommand)]
enum BackupCommand {
    /// Check a backup: every hash, and, once it is restored aside, the number of rows and the business
    /// rules.
    ///
    /// A backup of SQLite is restored into a temporary folder, one of PostgreSQL into the empty database
    /// that `--scratch` names, which keeps it, silent, for a look. It ends with 0 when the backup is
    /// good, with 1 when a rule is violated, with 2 when it could not look or the backup is damaged.
    #[command(
        after_help = "Example:\n  preauth-server backup verify backups/monday --scratch postgres://localhost/scratch"
    )]
    Verify(verify::VerifyArgs),
}

#[derive(Debug, Args)]
struct MakeArgs {
    /// The folder to write. It must not exist, or be empty; until it is complete a file INCOMPLETE stands
    /// in it.
    #[arg(required = true)]
    target: Option<PathBuf>,
    /// Leave the invoice files where they are, and only list them.
    #[arg(long)]
    without_files: bool,
    /// List invoice files that are missing or damaged already, and go on.
    #[arg(long, conflicts_with = "without_files")]
    accept_missing: bool,
    #[command(flatten)]
    serve: ServeArgs,
}

/// The exit code of a verification that failed; 1 means that a rule is violated.
pub(super) const FAILED: u8 = 2;

/// How a command treats invoice files.
pub(super) const fn file_mode(without: bool, accepts_missing: bool) -> FileMode {
    match (without, accepts_missing) {
        (true, _) => FileMode::Listed,
        (false, true) => FileMode::Present,
        (false, false) => FileMode::All,
    }
}

impl BackupArgs {
    /// The verification that was asked for.
    pub(super) const fn verification(&self) -> Option<&verify::VerifyArgs> {
        match &self.command {
            Some(BackupCommand::Verify(args)) => Some(args),
            None => None,
        }
    }
}

pub(super) use verify::run as verify;

pub(super) async fn run(args: &BackupArgs) -> Result<(), CliError> {
    let args = &args.make;
    let (url, files_place) = Config::backed_up(&args.serve.layers())?;
    let target = args.target.as_ref().ok_or("no target is given")?;
    let mode = file_mode(args.without_files, args.accept_missing);
    let stopwatch = Stopwatch::start();
    let manifest = backup::back_up(&url, &files_place, target, mode).await?;
    let name = target.display();
    let text = format!(
        "{name}: {}, in {:.1} s\n  next: keep {} apart from it; `preauth-server backup verify {name}` \
         restores it aside and checks it against the rules",
        summary(&manifest),
        stopwatch.elapsed().as_seconds_f64(),
        keys(&manifest),
    );
    Ok(stdout::print(&text)?)
}

/// What a backup holds, in one line.
pub(super) fn summary(manifest: &Manifest) -> String {
    let parts = manifest.contents.parts.iter().map(|part| part.bytes);
    let bytes = parts.fold(0, u64::saturating_add);
    let files = &manifest.invoice_files;
    let where_they_are = match (files.are_included, files.missing.len()) {
        (false, _) => ", not included".to_owned(),
        (true, 0) => String::new(),
        (true, missing) => format!(", {missing} of them missing"),
    };
    format!(
        "{} operations, {bytes} bytes, {} invoice files ({} bytes{where_they_are})",
        manifest.contents.rows("operations"),
        files.named,
        files.bytes,
    )
}

/// The master keys that a server needs to start on it.
pub(super) fn keys(manifest: &Manifest) -> String {
    let ids: Vec<_> = manifest.master_keys.iter().map(|key| &*key.id).collect();
    if ids.is_empty() {
        "the master key file".to_owned()
    } else {
        format!("the master key file (keys {})", ids.join(", "))
    }
}
