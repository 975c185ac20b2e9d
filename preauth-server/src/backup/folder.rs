//! The folder of a backup, which says of itself whether it is complete.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use preauth_core::value::Timestamp;

use crate::files;
use crate::store::BackupError;
use crate::store::backup::FILES_LIST;

use super::manifest::PRODUCT;
use super::{Error, FORMAT_VERSION, Manifest};

/// Exists from the first step of a backup until its manifest is in place.
const INCOMPLETE: &str = "INCOMPLETE";
const MANIFEST: &str = "manifest.json";
/// Number of backups that a refusal names.
const MAX_NAMED: usize = 5;

/// A backup that is being made.
#[derive(Debug)]
pub struct Incomplete {
    path: PathBuf,
}

impl Incomplete {
    /// Creates the folder, or takes an empty one.
    pub(super) fn begin(target: &Path, now: Timestamp) -> Result<Self, Error> {
        let path = std::path::absolute(target).map_err(Error::file(target))?;
        match std::fs::create_dir(&path) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => refuse_full(&path)?,
            Err(cause) => return Err(Error::File { path, cause }),
        }
        restrict(&path).map_err(Error::file(&path))?;
        let mark = path.join(INCOMPLETE);
        let mut file = match files::create_private(&mark) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(Error::Incomplete { target: path });
            }
            file => file.map_err(Error::file(&mark))?,
        };
        let text = format!(
            "This backup is not complete. It was begun at {now}; unless it is still under way, remove this \
             folder.\n"
        );
        file.write_all(text.as_bytes())
            .and_then(|()| file.sync_all())
            .and_then(|()| files::sync_folder(&path))
            .map_err(Error::file(&mark))?;
        Ok(Self { path })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Removes everything but the mark, as far as possible.
    pub(super) fn empty(&self) {
        let entries = std::fs::read_dir(&self.path)
            .into_iter()
            .flatten()
            .flatten();
        for entry in entries.filter(|it| it.file_name() != INCOMPLETE) {
            let path = entry.path();
            let removed = match entry.file_type() {
                Ok(kind) if kind.is_dir() => std::fs::remove_dir_all(&path),
                _ => std::fs::remove_file(&path),
            };
            if let Err(cause) = removed {
                tracing::warn!(path = %path.display(), %cause, "a part of the failed backup is left");
            }
        }
    }

    /// Puts everything on disk, then the manifest, and removes the mark last.
    pub(super) fn complete(&self, manifest: &Manifest) -> Result<(), Error> {
        let folder = &self.path;
        let failed = || Error::file(folder);
        let text = serde_json::to_vec_pretty(manifest).map_err(io::Error::other);
        let text = text.map_err(failed())?;
        // All files of the backup at once: there may be a million.
        let opened = File::open(folder).map_err(failed())?;
        rustix::fs::syncfs(&opened).map_err(|error| failed()(error.into()))?;
        let path = folder.join(MANIFEST);
        files::write_private(&path, &text).map_err(Error::file(&path))?;
        files::sync_folder(folder).map_err(failed())?;
        let mark = folder.join(INCOMPLETE);
        std::fs::remove_file(&mark).map_err(Error::file(&mark))?;
        files::sync_folder(folder).map_err(failed())
    }
}

fn refuse_full(path: &Path) -> Result<(), Error> {
    if path.join(INCOMPLETE).symlink_metadata().is_ok() {
        let target = path.to_owned();
        return Err(Error::Incomplete { target });
    }
    let is_empty = std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
    if is_empty {
        return Ok(());
    }
    let target = path.to_owned();
    Err(Error::TargetExists { target })
}

/// The copy is as private as the database.
fn restrict(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(folder, PermissionsExt::from_mode(0o700))
}

/// A complete backup.
#[derive(Debug)]
pub struct BackupFolder {
    path: PathBuf,
    /// What it says of itself.
    pub manifest: Manifest,
}

impl BackupFolder {
    /// Opens a complete backup.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let (path, target) = (path.to_owned(), path.to_owned());
        if path.join(INCOMPLETE).symlink_metadata().is_ok() {
            return Err(Error::Incomplete { target });
        }
        let file = path.join(MANIFEST);
        let text = match std::fs::read(&file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(no_backup(target));
            }
            text => text.map_err(Error::file(&file))?,
        };
        let manifest = read(&text, &file)?;
        Ok(Self { path, manifest })
    }

    /// Its folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Checks the list of invoice files, which is read before the database is restored.
    pub(super) fn check_list(&self) -> Result<(), Error> {
        let path = self.path.join(FILES_LIST);
        let read = files::fingerprint(&path).map_err(Error::file(&path))?;
        let mut parts = self.manifest.contents.parts.iter();
        if parts.any(|part| part.path == FILES_LIST && part.is(&read)) {
            return Ok(());
        }
        let what = format!("{FILES_LIST} is not what its manifest says");
        Err(BackupError::Unreadable { what }.into())
    }
}

/// What a path without a manifest is instead of a backup.
fn no_backup(target: PathBuf) -> Error {
    let entries = match std::fs::read_dir(&target) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Error::NotThere { target },
        Err(_) => return Error::NoManifest { target },
    };
    let folders = entries.filter_map(Result::ok);
    let backups = folders.filter(|it| it.path().join(MANIFEST).exists());
    let mut backups: Vec<_> = backups
        .map(|it| it.file_name().to_string_lossy().into_owned())
        .collect();
    if backups.is_empty() {
        return Error::NoManifest { target };
    }
    backups.sort_unstable_by(|one, other| other.cmp(one));
    backups.truncate(MAX_NAMED);
    Error::HoldsBackups { target, backups }
}

/// A manifest of a newer format may have another shape, but says which it is.
fn read(text: &[u8], path: &Path) -> Result<Manifest, Error> {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Head {
        format: String,
        format_version: u32,
        product_version: String,
    }
    let failed = |cause| Error::Manifest {
        path: path.to_owned(),
        cause,
    };
    let head: Head = serde_json::from_slice(text).map_err(failed)?;
    if head.format == PRODUCT && head.format_version > FORMAT_VERSION {
        return Err(Error::NewerFormat {
            product: head.product_version,
            format: head.format_version,
        });
    }
    serde_json::from_slice(text).map_err(failed)
}
