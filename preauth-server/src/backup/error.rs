//! Why there is no backup, or no restore.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::invoice_files::{FilesError, PlaceError};
use crate::store::BackupError;

/// Why there is no backup, or no restore; each text names the next step.
#[derive(Debug, Error)]
pub enum Error {
    /// The target exists and is not an empty folder.
    #[error("{} exists already, and nothing is overwritten; choose another name", target.display())]
    TargetExists {
        /// The target.
        target: PathBuf,
    },
    /// The folder says that it is incomplete.
    #[error(
        "{} is not complete: a backup to it is under way or was interrupted; if none is under way, remove the \
         folder", target.display()
    )]
    Incomplete {
        /// The folder.
        target: PathBuf,
    },
    /// There is nothing at the path.
    #[error("{} does not exist; name the folder of a backup", target.display())]
    NotThere {
        /// The path.
        target: PathBuf,
    },
    /// The folder has no manifest, and its folders have none either.
    #[error(
        "{} is no complete backup: there is no manifest.json in it; name the folder of a backup", target.display()
    )]
    NoManifest {
        /// The folder.
        target: PathBuf,
    },
    /// The folder is no backup, but backups are in it.
    #[error("{} is no backup itself, but holds backups: {}; name one of them", target.display(), backups.join(", "))]
    HoldsBackups {
        /// The folder.
        target: PathBuf,
        /// Names of the newest, which are in order if they begin with a date.
        backups: Vec<String>,
    },
    /// The manifest cannot be understood.
    #[error("{} cannot be read as the manifest of a backup; use another backup", path.display())]
    Manifest {
        /// The manifest.
        path: PathBuf,
        /// Why.
        #[source]
        cause: serde_json::Error,
    },
    /// The manifest is of a newer format.
    #[error(
        "this backup was made by version {product} of the server, in format {format}; use that version or a newer \
         one"
    )]
    NewerFormat {
        /// Version of the program.
        product: String,
        /// Version of the format.
        format: u32,
    },
    /// A file or folder could not be written or read.
    #[error(
        "{} cannot be written or read; check that its folder exists, its permissions, and that the disk has room",
        path.display()
    )]
    File {
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        #[source]
        cause: io::Error,
    },
    /// The database was not copied or restored.
    #[error(transparent)]
    Database(#[from] BackupError),
    /// The place of the invoice files cannot be used.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// Invoice files are missing or damaged.
    #[error(
        "{count} invoice files that operations name are missing or damaged in {place}, {first} first; put them \
         back there from an earlier backup, or run this again with --accept-missing, which lists them in the \
         manifest"
    )]
    MissingFiles {
        /// Their number.
        count: usize,
        /// One of them.
        first: String,
        /// Where they should be.
        place: String,
    },
    /// An invoice file could not be copied.
    #[error("an invoice file was not copied; check its place, and run this again")]
    InvoiceFile(#[source] FilesError),
}

impl Error {
    pub(super) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |cause| Self::File { path, cause }
    }
}
