//! The storage of files: a folder, or S3-compatible storage.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use object_store::local::LocalFileSystem;
use object_store::path::Path as Location;
use object_store::{ObjectStore, ObjectStoreExt, PutPayload};
use preauth_core::value::Timestamp;
use thiserror::Error;

use crate::files::{create_private_directory, remove_if_there};

use super::parts::{PART_BYTES, piece, send_parts};
use super::{Content, ContentHash, FilesError, Spooled, blocking};

/// Prefix of an address of S3-compatible storage.
const S3_SCHEME: &str = "s3://";
/// Number of a hash's digits that name a folder, so that no folder becomes too large.
const FOLDER_DIGITS: usize = 2;

/// The storage of files.
#[derive(Clone, Debug)]
pub struct Place {
    objects: Arc<dyn ObjectStore>,
    prefix: Location,
    /// The folder, unless it is S3-compatible storage.
    folder: Option<PathBuf>,
}

/// Why a storage cannot be used.
#[derive(Debug, Error)]
pub enum PlaceError {
    /// The folder could not be created.
    #[error("the folder {} of the invoice files cannot be made", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The error of the operating system.
        #[source]
        cause: io::Error,
    },
    /// The folder, or the storage, cannot be used.
    #[error("the invoice files cannot be kept at {place}")]
    Unusable {
        /// The configured text.
        place: String,
        /// The error of the storage.
        #[source]
        cause: object_store::Error,
    },
    /// This build lacks S3.
    #[error("this build keeps invoice files in a folder only; build it with the feature s3")]
    NoS3,
}

/// Why a storage cannot be worked with.
#[derive(Debug, Error)]
pub(crate) enum ProbeError {
    /// No object could be written.
    #[error("no object can be written there")]
    Write(#[source] object_store::Error),
    /// It was written and cannot be read.
    #[error("the object that was written cannot be read")]
    Read(#[source] object_store::Error),
    /// It was read with another content.
    #[error("the object that was written comes back with another content")]
    Changed,
    /// It cannot be removed.
    #[error("the object {0} was written and cannot be removed: remove it by hand")]
    Remove(String, #[source] object_store::Error),
}

impl Place {
    /// A folder, created if it does not exist, or `s3://BUCKET/PREFIX`, with credentials, region
    /// and endpoint in the usual `AWS_` variables.
    pub fn open(place: &str) -> Result<Self, PlaceError> {
        if is_s3(place) {
            return Self::s3(place);
        }
        let folder = PathBuf::from(place);
        make_folder(&folder)?;
        let objects = LocalFileSystem::new_with_prefix(&folder).map_err(unusable(place))?;
        Ok(Self {
            objects: Arc::new(objects.with_fsync(true)),
            prefix: Location::default(),
            folder: Some(folder),
        })
    }

    #[cfg(feature = "s3")]
    fn s3(place: &str) -> Result<Self, PlaceError> {
        use object_store::aws::AmazonS3Builder;

        let objects = AmazonS3Builder::from_env().with_url(place).build();
        let prefix = place
            .trim_start_matches(S3_SCHEME)
            .split_once('/')
            .map_or("", |(_, prefix)| prefix);
        Ok(Self {
            objects: Arc::new(objects.map_err(unusable(place))?),
            prefix: Location::from(prefix),
            folder: None,
        })
    }

    #[cfg(not(feature = "s3"))]
    const fn s3(_place: &str) -> Result<Self, PlaceError> {
        Err(PlaceError::NoS3)
    }

    /// Stores a file durably, unless it is already stored.
    pub(crate) async fn put(&self, file: &Arc<Spooled>) -> Result<(), FilesError> {
        let location = self.location(file.hash());
        match self.objects.head(&location).await {
            Ok(there) if there.size == file.size() => return Ok(()),
            Ok(_) | Err(object_store::Error::NotFound { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        if file.size() <= PART_BYTES {
            let whole = piece(file, 0).await?;
            self.objects.put(&location, whole).await?;
            return Ok(());
        }
        let upload = self.objects.put_multipart(&location).await?;
        send_parts(upload, file).await
    }

    /// Opens a file that must have `size` bytes.
    pub(crate) async fn get(&self, hash: ContentHash, size: u64) -> Result<Content, FilesError> {
        match self.objects.get(&self.location(hash)).await {
            Ok(found) if found.meta.size == size => Ok(Content::new(size, found.into_stream())),
            Ok(_) | Err(object_store::Error::NotFound { .. }) => Err(FilesError::Lost(hash)),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes a file; does nothing when it does not exist.
    pub(crate) async fn remove(&self, hash: ContentHash) -> Result<(), FilesError> {
        match self.objects.delete(&self.location(hash)).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        self.remove_unfinished(hash).await
    }

    /// Whether what failed with this error certainly did not happen: a folder's operation, or one that the storage refused.
    pub(super) const fn is_certain(&self, error: &FilesError) -> bool {
        self.folder.is_some()
            || matches!(
                error,
                FilesError::Place(
                    object_store::Error::PermissionDenied { .. }
                        | object_store::Error::Unauthenticated { .. }
                )
            )
    }

    /// Removes leftovers of a process that ended while it wrote this file into the folder: the
    /// library names them with the file's name, `#` and a number.
    pub(super) async fn remove_unfinished(&self, hash: ContentHash) -> Result<(), FilesError> {
        let Some(folder) = &self.folder else {
            return Ok(());
        };
        let name = hash.to_string();
        let folder = folder.join(name.get(..FOLDER_DIGITS).unwrap_or_default());
        let unfinished = format!("{name}#");
        let removed = blocking(move || {
            for entry in entries(&folder)? {
                let entry = entry?;
                if entry.file_name().to_string_lossy().starts_with(&unfinished) {
                    remove_if_there(&entry.path())?;
                }
            }
            Ok(())
        });
        removed.await.map_err(FilesError::Spool)
    }

    /// Removes leftovers of processes that ended while they wrote any file before this moment; what others write
    /// meanwhile stays.
    pub(crate) async fn remove_unfinished_before(
        &self,
        moment: Timestamp,
    ) -> Result<(), FilesError> {
        let Some(place) = self.folder.clone() else {
            return Ok(());
        };
        let since_epoch = Duration::from_millis(moment.unix_millis().unsigned_abs());
        let moment = UNIX_EPOCH.checked_add(since_epoch).unwrap_or(UNIX_EPOCH);
        let removed = blocking(move || {
            for folder in entries(&place)? {
                let folder = folder?;
                if !folder.file_type()?.is_dir() {
                    continue;
                }
                for entry in entries(&folder.path())? {
                    let entry = entry?;
                    let is_unfinished = entry.file_name().to_string_lossy().contains('#');
                    if is_unfinished && entry.metadata()?.modified()? < moment {
                        remove_if_there(&entry.path())?;
                    }
                }
            }
            Ok(())
        });
        removed.await.map_err(FilesError::Spool)
    }

    /// Writes an object of this name, reads it and removes it, whatever could be read.
    pub(crate) async fn probe(&self, name: &str) -> Result<(), ProbeError> {
        let location = self.prefix.clone().join(name);
        let content = name.as_bytes().to_vec();
        let put = self.objects.put(&location, PutPayload::from(content));
        put.await.map_err(ProbeError::Write)?;
        let read = self.read_back(&location, name.as_bytes()).await;
        let removed = self.objects.delete(&location).await;
        read?;
        removed.map_err(|error| ProbeError::Remove(name.to_owned(), error))
    }

    async fn read_back(&self, location: &Location, expected: &[u8]) -> Result<(), ProbeError> {
        let found = self.objects.get(location).await.map_err(ProbeError::Read)?;
        let bytes = found.bytes().await.map_err(ProbeError::Read)?;
        if bytes == expected {
            Ok(())
        } else {
            Err(ProbeError::Changed)
        }
    }

    fn location(&self, hash: ContentHash) -> Location {
        let name = hash.to_string();
        let folder = name.get(..FOLDER_DIGITS).unwrap_or_default();
        let prefix = self.prefix.clone();
        prefix.join(folder).join(name.as_str())
    }
}

/// Whether a place is S3-compatible storage, which every instance can reach.
#[must_use]
pub fn is_s3(place: &str) -> bool {
    place.starts_with(S3_SCHEME)
}

/// Whether the `AWS_` variables give neither a key nor another way to one, for S3-compatible storage.
#[cfg(feature = "s3")]
#[must_use]
pub fn lacks_credentials() -> bool {
    use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey as Key};

    let given = AmazonS3Builder::from_env();
    [
        Key::AccessKeyId,
        Key::WebIdentityTokenFile,
        Key::ContainerCredentialsRelativeUri,
        Key::ContainerCredentialsFullUri,
    ]
    .iter()
    .all(|key| given.get_config_value(key).is_none())
        && given.get_config_value(&Key::SkipSignature).as_deref() != Some("true")
}

/// Without S3 no place needs any.
#[cfg(not(feature = "s3"))]
#[must_use]
pub const fn lacks_credentials() -> bool {
    false
}

/// Creates a folder for its owner alone, if it does not exist.
pub(super) fn make_folder(path: &Path) -> Result<(), PlaceError> {
    create_private_directory(path).map_err(|cause| PlaceError::Folder {
        path: path.to_owned(),
        cause,
    })
}

fn unusable(place: &str) -> impl FnOnce(object_store::Error) -> PlaceError {
    let place = place.to_owned();
    |cause| PlaceError::Unusable { place, cause }
}

/// The content of a folder, which may not exist yet.
fn entries(folder: &Path) -> io::Result<impl Iterator<Item = io::Result<std::fs::DirEntry>>> {
    match std::fs::read_dir(folder) {
        Ok(entries) => Ok(Some(entries).into_iter().flatten()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None.into_iter().flatten()),
        Err(error) => Err(error),
    }
}
