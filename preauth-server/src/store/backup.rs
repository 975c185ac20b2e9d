//! A copy of a database, made while the server works on it.

use std::path::PathBuf;

use thiserror::Error;

use super::OpenError;

/// The content of a backup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backup {
    /// The number of operations.
    pub operations: u64,
    /// Its size.
    pub bytes: u64,
}

/// Why no backup was made; each text names the next step.
#[derive(Debug, Error)]
pub enum BackupError {
    /// The database is not a SQLite file.
    #[error(
        "this command copies SQLite databases; for PostgreSQL use pg_dump or pg_basebackup, and keep the \
         master key file with what they write"
    )]
    NotSqlite,
    /// The target exists.
    #[error("{} exists already, and nothing is overwritten; choose another name", target.display())]
    TargetExists {
        /// The file.
        target: PathBuf,
    },
    /// The file of an incomplete backup exists.
    #[error(
        "{} exists: another backup to this target is under way or was interrupted; if none is under way, \
         remove that file", incomplete.display()
    )]
    Incomplete {
        /// The file.
        incomplete: PathBuf,
    },
    /// The target is not a file name.
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
        /// The error of the operating system.
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
        /// The target.
        path: PathBuf,
        /// The error of the database.
        #[source]
        cause: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The copy is damaged.
    #[error(
        "the copy is damaged, and was removed ({what}); look at the database itself: \
         `preauth-server audit`"
    )]
    Damaged {
        /// The damage.
        what: String,
    },
}
