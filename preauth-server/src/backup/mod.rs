//! Backups of everything: the database, the invoice files that it names, and which master keys it needs,
//! all of one moment, in a folder that says of itself whether it is complete.
//!
//! The database comes first: what it names has been stored before, and is not removed while it is named.

mod error;
mod folder;
mod invoice_files;
mod manifest;

use std::collections::BTreeMap;
use std::path::Path;

use preauth_core::value::Timestamp;

use crate::clock::{Clock, SystemClock};
use crate::directory::KeptSecret;
use crate::secret::Vault;
use crate::store::backup::Secrets;
use crate::store::copying as database;
use crate::store::{BackupError, DatabaseUrl};

pub use error::Error;
pub use folder::{BackupFolder, Incomplete};
pub use manifest::{FORMAT_VERSION, FilesHeld, Manifest, NeededKey};

use manifest::PRODUCT;

/// How invoice files are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileMode {
    /// Each is copied, and one that is missing or damaged is an error.
    All,
    /// Each that is there is copied; the others are listed.
    Present,
    /// They stay where they are.
    Listed,
}

/// Copies the database that `url` names, and the files in `files_place`, into the new folder `target`. If that fails, the
/// folder keeps its mark and nothing else: a disk that is full has its room again.
pub async fn back_up(
    url: &DatabaseUrl,
    files_place: &str,
    target: &Path,
    mode: FileMode,
) -> Result<Manifest, Error> {
    let began_at = SystemClock.now();
    let folder = Incomplete::begin(target, began_at)?;
    let filled = fill(&folder, url, files_place, mode, began_at).await;
    if filled.is_err() {
        folder.empty();
    }
    filled
}

async fn fill(
    folder: &Incomplete,
    url: &DatabaseUrl,
    files_place: &str,
    mode: FileMode,
    began_at: Timestamp,
) -> Result<Manifest, Error> {
    let mut keys = Keys::default();
    let secrets = Secrets {
        now: began_at,
        each: &mut |kept: &KeptSecret| {
            keys.count(Vault::key_of(&kept.sealed).map(|key| key.to_string()));
        },
    };
    let contents = database::export(url, folder.path(), secrets).await?;
    let files = invoice_files::copy_out(files_place, folder.path(), mode).await?;
    let manifest = Manifest {
        format: PRODUCT.to_owned(),
        format_version: FORMAT_VERSION,
        product_version: env!("CARGO_PKG_VERSION").to_owned(),
        began_at: began_at.to_string(),
        ended_at: SystemClock.now().to_string(),
        master_keys: keys.needed(),
        invoice_files: files,
        contents,
    };
    folder.complete(&manifest)?;
    Ok(manifest)
}

/// Restores a backup into an empty database and into `files_place`, where nothing is replaced but files that are damaged.
pub async fn restore(
    backup: &BackupFolder,
    url: &DatabaseUrl,
    files_place: &str,
    mode: FileMode,
) -> Result<(), Error> {
    let contents = &backup.manifest.contents;
    backup.check_list()?;
    let import = database::begin_import(url, contents).await?;
    // First, so that a database that can be used has its files.
    invoice_files::copy_in(backup, files_place, mode).await?;
    Ok(import.finish(backup.path(), contents).await?)
}

/// Checks every part and every invoice file of the backup against its hash.
pub async fn check(backup: &BackupFolder) -> Result<(), Error> {
    for part in &backup.manifest.contents.parts {
        let path = backup.path().join(&part.path);
        let read = crate::files::fingerprint(&path).map_err(Error::file(&path))?;
        if !part.is(&read) {
            let what = format!("{} is not what its manifest says", part.path);
            return Err(BackupError::Unreadable { what }.into());
        }
    }
    invoice_files::check(backup).await
}

/// The master keys that the signing secrets of a backup need.
#[derive(Debug, Default)]
struct Keys(BTreeMap<String, u64>);

impl Keys {
    /// A secret that no key opens needs none.
    fn count(&mut self, key: Option<String>) {
        if let Some(key) = key {
            let count = self.0.entry(key).or_default();
            *count = count.saturating_add(1);
        }
    }

    fn needed(self) -> Vec<NeededKey> {
        let needed = |(id, secrets)| NeededKey { id, secrets };
        self.0.into_iter().map(needed).collect()
    }
}
