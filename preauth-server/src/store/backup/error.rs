//! Why a database was not copied or restored.

use std::error::Error as StdError;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::DatabaseKind;
use crate::store::OpenError;

/// Why a database was not copied or restored; each text names the next step.
#[derive(Debug, Error)]
pub enum BackupError {
    /// A file or folder could not be written or read.
    #[error(
        "{} cannot be written or read; check its permissions, and that the disk has room for the whole \
         database", path.display()
    )]
    File {
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        #[source]
        cause: io::Error,
    },
    /// The database could not be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// A statement failed.
    #[error(
        "{task} failed; check the database's log and that its disk has room, and run this again"
    )]
    Database {
        /// What was being done.
        task: String,
        /// The error of the database.
        #[source]
        cause: Box<dyn StdError + Send + Sync>,
    },
    /// The copy is damaged, or what was restored is not what was copied.
    #[error("{what}; look at the database itself: `preauth-server audit`")]
    Damaged {
        /// The damage.
        what: String,
    },
    /// A part of the backup is not what its manifest says.
    #[error("the backup is damaged: {what}; use another backup")]
    Unreadable {
        /// The damage.
        what: String,
    },
    /// The database has tables that this build does not know.
    #[error(
        "the database has tables that this build does not know, and leaves nothing out in silence: {}; if they \
         are another program's, move them to a schema or database of their own; if they are a newer server's, \
         use its version", tables.join(", ")
    )]
    UnknownTables {
        /// Their names.
        tables: Vec<String>,
    },
    /// The backup is of the other kind of database.
    #[error(
        "this is a backup of {}, and the database to restore into is of the other kind; give a database of the \
         same kind", match .0 { DatabaseKind::Sqlite => "SQLite", DatabaseKind::Postgresql => "PostgreSQL" }
    )]
    OtherKind(DatabaseKind),
    /// The backup has a schema that this build does not know.
    #[error(
        "the backup has step {backup} of the schema, and this build knows those up to {known}; restore it with the \
         version of the server that made it, or a newer one"
    )]
    NewerSchema {
        /// The newest step of the backup.
        backup: i64,
        /// The newest step of this build.
        known: i64,
    },
    /// The database to restore into is not empty.
    #[error(
        "{database} is not empty, and nothing is overwritten; restore into {}",
        match kind {
            DatabaseKind::Sqlite => "another folder, or move that file, and those beside it, away",
            DatabaseKind::Postgresql => "an empty database (`createdb --owner USER NAME`)",
        }
    )]
    NotEmpty {
        /// The file or database.
        database: String,
        /// Its kind.
        kind: DatabaseKind,
    },
    /// Another restore works on the database.
    #[error("another restore into {database} is under way; wait for its end, and run this again")]
    UnderWay {
        /// The file or database.
        database: String,
    },
}

impl BackupError {
    pub(in crate::store) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |cause| Self::File { path, cause }
    }

    pub(in crate::store) fn database<E>(task: &str) -> impl FnOnce(E) -> Self
    where
        E: Into<Box<dyn StdError + Send + Sync>>,
    {
        let task = task.to_owned();
        move |cause| Self::Database {
            task,
            cause: cause.into(),
        }
    }
}
