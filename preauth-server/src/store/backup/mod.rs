//! The database's part of a backup: a copy of one moment, made while servers work on it, and its way
//! into a database that is empty. `copying` does either.

mod error;
pub(super) mod rows_digest;

use preauth_core::value::Timestamp;
use serde::{Deserialize, Serialize};

use crate::directory::KeptSecret;
use crate::files::Fingerprint;

pub use error::BackupError;

/// The invoice files that the copied operations name, a line each: SHA-256, a space, length in bytes.
pub const FILES_LIST: &str = "files.list";
/// The copy of a SQLite database.
pub(super) const SQLITE_PART: &str = "preauth.db";
/// The folder of a PostgreSQL database's tables.
pub(super) const TABLES_FOLDER: &str = "tables";

/// The kind of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DatabaseKind {
    /// A SQLite file.
    Sqlite,
    /// A PostgreSQL database.
    Postgresql,
}

/// The content of a copied database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Contents {
    /// The kind of database.
    pub database: DatabaseKind,
    /// Version of the database's software.
    pub database_version: String,
    /// The newest migration that was applied.
    pub schema_version: i64,
    /// The deployment that the database belongs to.
    pub deployment_id: Option<String>,
    /// Its tables.
    pub tables: Vec<TableContents>,
    /// The state of its sequences, of PostgreSQL.
    #[serde(default)]
    pub sequences: Vec<SequenceState>,
    /// The files of the copy.
    pub parts: Vec<Part>,
}

/// A table of a copied database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TableContents {
    /// Its name.
    pub name: String,
    /// The number of its rows.
    pub rows: u64,
    /// How it was copied, on PostgreSQL.
    #[serde(flatten)]
    pub copied: Option<CopiedTable>,
}

/// A table that was copied by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CopiedTable {
    /// The columns, in the order of the copy.
    pub columns: Vec<String>,
    /// A digest of the rows that does not depend on their order.
    pub rows_digest: String,
}

/// The state of a sequence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SequenceState {
    /// Its name.
    pub name: String,
    /// Its latest value.
    pub last_value: i64,
    /// Whether that value was assigned.
    pub is_called: bool,
    /// Whether it begins again after its last value; it then assigns no ids.
    pub cycles: bool,
}

/// A file of a backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Its path within the backup.
    pub path: String,
    /// Length in bytes.
    pub bytes: u64,
    /// SHA-256 of its content, in hexadecimal digits.
    pub sha256: String,
}

impl Part {
    pub(super) fn new(path: impl Into<String>, fingerprint: Fingerprint) -> Self {
        let Fingerprint { bytes, sha256 } = fingerprint;
        Self {
            path: path.into(),
            bytes,
            sha256,
        }
    }

    /// Whether the content that was read is that of the part.
    #[must_use]
    pub fn is(&self, read: &Fingerprint) -> bool {
        self.bytes == read.bytes && self.sha256 == read.sha256
    }
}

impl Contents {
    /// The number of rows of a table; 0 if there is no such table.
    #[must_use]
    pub fn rows(&self, table: &str) -> u64 {
        let found = self.tables.iter().find(|each| each.name == table);
        found.map_or(0, |table| table.rows)
    }

    pub(super) fn part(&self, path: &str) -> Result<&Part, BackupError> {
        let found = self.parts.iter().find(|part| part.path == path);
        found.ok_or_else(|| BackupError::Unreadable {
            what: format!("the manifest names no {path}"),
        })
    }
}

/// Receives the signing secrets in force, as they are stored.
#[expect(missing_debug_implementations, reason = "a closure has none")]
pub struct Secrets<'s> {
    /// The moment at which they are in force.
    pub now: Timestamp,
    /// Called for each.
    pub each: &'s mut (dyn FnMut(&KeptSecret) + Send),
}
