//! `backup verify`: restores a backup aside, and checks it.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use tempfile::TempDir;

use crate::backup::{self, BackupFolder, FileMode};
use crate::config::{AuditSettings, Config};
use crate::stdout;
use crate::store::backup::DatabaseKind;
use crate::store::copying as database;
use crate::store::{self, DatabaseUrl};

use super::super::CliError;
use super::super::audit;
use super::super::serve::ServeArgs;
use super::summary;

#[derive(Debug, Args)]
pub(in crate::cli) struct VerifyArgs {
    /// The backup.
    backup: PathBuf,
    /// For a backup of PostgreSQL: an empty database to restore it into.
    #[arg(long, value_name = "URL")]
    scratch: Option<String>,
    /// For a backup of SQLite: the folder in which it is restored for a moment; by default that of
    /// temporary files. It needs room for the whole database.
    #[arg(long, value_name = "DIR")]
    scratch_folder: Option<PathBuf>,
    #[command(flatten)]
    serve: ServeArgs,
}

pub(in crate::cli) async fn run(args: &VerifyArgs) -> Result<ExitCode, CliError> {
    let layers = args.serve.layers();
    let settings = Config::audited(&layers)?;
    let backup = BackupFolder::open(&args.backup)?;
    let summary = summary(&backup.manifest);
    stdout::print(&format!("{}: {summary}", args.backup.display()))?;
    let scratch = Scratch::of(args, &backup, &settings.url)?;
    backup::check(&backup).await?;
    stdout::print("every file has the hash of the manifest")?;
    let files = scratch.folder.path().join("invoice-files");
    let files = files.display().to_string();
    let url = &scratch.url;
    restore(&backup, url, &files).await?;
    database::compare(url, &backup.manifest.contents).await?;
    stdout::print("restored aside: every table has the rows of the manifest")?;
    // It may be of an earlier version.
    store::migrate(url).await?;
    audit::audit_at_rest(&AuditSettings {
        url: url.clone(),
        ..settings
    })
    .await
}

/// The files were checked where they are.
async fn restore(backup: &BackupFolder, url: &DatabaseUrl, files: &str) -> Result<(), CliError> {
    let mut listless = BackupFolder::open(backup.path())?;
    listless.manifest.invoice_files.named = 0;
    Ok(backup::restore(&listless, url, files, FileMode::Listed).await?)
}

/// A database for the restored backup, and a folder that is removed in the end.
struct Scratch {
    url: DatabaseUrl,
    folder: TempDir,
}

impl Scratch {
    fn of(
        args: &VerifyArgs,
        backup: &BackupFolder,
        configured: &DatabaseUrl,
    ) -> Result<Self, CliError> {
        let folder = match &args.scratch_folder {
            Some(folder) => tempfile::tempdir_in(folder)?,
            None => tempfile::tempdir()?,
        };
        let url = match (backup.manifest.contents.database, &args.scratch) {
            (DatabaseKind::Sqlite, None) => {
                format!("sqlite://{}", folder.path().join("preauth.db").display()).into()
            }
            (DatabaseKind::Postgresql, Some(url)) => configured.another(url.clone()),
            (DatabaseKind::Sqlite, Some(_)) => {
                return Err("this is a backup of SQLite, which needs no --scratch".into());
            }
            (DatabaseKind::Postgresql, None) => {
                return Err(
                    "this is a backup of PostgreSQL: make an empty database (`createdb --owner USER scratch`), name it with \
                     --scratch postgres://…/scratch, and drop it afterwards"
                        .into(),
                );
            }
        };
        Ok(Self { url, folder })
    }
}
