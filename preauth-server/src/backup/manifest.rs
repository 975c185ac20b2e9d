//! The manifest of a backup: what it holds and what it needs, and never a key itself.

use serde::{Deserialize, Serialize};

use crate::store::backup::Contents;

/// Version of the format of backups that this build writes, and the newest that it reads.
pub const FORMAT_VERSION: u32 = 1;
/// The program whose backups these are.
pub(super) const PRODUCT: &str = "preauth-server backup";

/// The manifest of a complete backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    /// The program that wrote it.
    pub format: String,
    /// Version of the format.
    pub format_version: u32,
    /// Version of the program.
    pub product_version: String,
    /// The beginning, after which the database was read.
    pub began_at: String,
    /// The end.
    pub ended_at: String,
    /// The master keys without which a restored server does not start.
    pub master_keys: Vec<NeededKey>,
    /// The invoice files.
    pub invoice_files: FilesHeld,
    /// The database.
    #[serde(flatten)]
    pub contents: Contents,
}

/// A master key that signing secrets need.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NeededKey {
    /// Its id, which opens nothing.
    pub id: String,
    /// The number of signing secrets.
    pub secrets: u64,
}

/// The invoice files of a backup. Each is named by its hash.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FilesHeld {
    /// Whether they were copied.
    pub are_included: bool,
    /// The number that the database names.
    pub named: u64,
    /// Their length together.
    pub bytes: u64,
    /// Those that were missing or damaged already.
    pub missing: Vec<String>,
}
