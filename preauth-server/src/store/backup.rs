//! A copy of a database, made beside the server that works on it.

use std::path::{Path, PathBuf};

use thiserror::Error;

use super::sqlite;
use super::url::Kind;
use super::{DatabaseUrl, OpenError};

/// What a backup holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backup {
    /// Operations in it.
    pub operations: u64,
    /// Its size.
    pub bytes: u64,
}

/// Why there is no backup; each text names the next step.
#[derive(Debug, Error)]
pub enum BackupError {
    /// The database is no SQLite file.
    #[error(
        "this command copies SQLite databases; for PostgreSQL use pg_dump or pg_basebackup, and keep the \
         master key file with what they write"
    )]
    NotSqlite,
    /// The target is there.
    #[error("{} exists already, and nothing is overwritten; choose another name", target.display())]
    TargetExists {
        /// The file.
        target: PathBuf,
    },
    /// The file is there that a backup is until it is complete.
    #[error(
        "{} exists: another backup to this target is under way or was interrupted; if none is under way, \
         remove that file", incomplete.display()
    )]
    Incomplete {
        /// The file.
        incomplete: PathBuf,
    },
    /// The target is no name of a file.
    #[error("the target must name a file in a folder that exists")]
    NoFile,
    /// A file or folder could not be written.
    #[error(
        "{} cannot be written; check that its folder exists, may be written to and has room for the \
         whole database", path.display()
    )]
    File {
        /// The file or folder.
        path: PathBuf,
        /// What the operating system says.
        #[source]
        cause: std::io::Error,
    },
    /// The database could not be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The database could not be copied.
    #[error(
        "the database cannot be copied to {}; check that the disk has room for all of it", path.display()
    )]
    Copy {
        /// Where to.
        path: PathBuf,
        /// What the database says.
        #[source]
        cause: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The copy is not sound.
    #[error(
        "the copy is damaged, and was removed ({what}); look at the database itself: \
         `preauth-server audit`"
    )]
    Damaged {
        /// What was found.
        what: String,
    },
}

/// Copies the SQLite database that `url` names to a new file at `target`, beside the server that works on
/// it. The copy is of one moment; it stands at `target` when it is complete, checked and synced to disk.
pub async fn backup(url: &DatabaseUrl, target: &Path) -> Result<Backup, BackupError> {
    match url.kind()? {
        Kind::Sqlite(path) => sqlite::backup(path.as_ref(), target).await,
        Kind::Postgres => Err(BackupError::NotSqlite),
    }
}
