//! Copies the file while its server writes to it.
//!
//! `VACUUM INTO` copies one snapshot in one step. A copy page by page would restart with each write
//! of another process, and never end. In the meantime the log grows as fast as the server writes,
//! and is truncated afterwards; a copy takes seconds per gigabyte.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use sqlx::sqlite::SqliteConnection;
use sqlx::{ConnectOptions, Connection};

use crate::store::OpenError;
use crate::store::backup::{Backup, BackupError};

use super::archive::{SqliteArchive, options};
use super::open::FILE_MODE;
use super::{identity, migrations};

/// Suffix of a backup's name until it is complete.
const INCOMPLETE: &str = ".incomplete";

/// Copies the database at `path` to a new file at `target`.
pub(in crate::store) async fn backup(path: &Path, target: &Path) -> Result<Backup, BackupError> {
    SqliteArchive::open(path).await?;
    let target = absolute(target)?;
    if target.symlink_metadata().is_ok() {
        return Err(BackupError::TargetExists { target });
    }
    let copy = Incomplete::begin(&target)?;
    let mut source = options(path).connect().await.map_err(failed(path))?;
    let copied = sqlx::query("VACUUM INTO ?1")
        .bind(copy.text()?)
        .execute(&mut source)
        .await;
    copied.map_err(|cause| BackupError::Copy {
        path: copy.path.clone(),
        cause: Box::new(cause),
    })?;
    // A failure to close is irrelevant.
    let _ = source.close().await;
    identity::forget_place(&copy.path)
        .await
        .map_err(|cause| BackupError::Copy {
            path: copy.path.clone(),
            cause: Box::new(cause),
        })?;
    let operations = checked(&copy.path).await?;
    let bytes = copy.complete(&target)?;
    Ok(Backup { operations, bytes })
}

fn absolute(target: &Path) -> Result<PathBuf, BackupError> {
    let path = std::path::absolute(target).map_err(|_| BackupError::NoFile)?;
    let names_a_file =
        path.file_name().is_some() && !target.as_os_str().as_encoded_bytes().ends_with(b"/");
    names_a_file.then_some(path).ok_or(BackupError::NoFile)
}

/// Checks the copy and returns its number of operations.
async fn checked(copy: &Path) -> Result<u64, BackupError> {
    let mut connection = options(copy).connect().await.map_err(failed(copy))?;
    let checked = sound(&mut connection).await;
    let _ = connection.close().await;
    checked
}

async fn sound(connection: &mut SqliteConnection) -> Result<u64, BackupError> {
    let damaged = |what: &dyn ToString| BackupError::Damaged {
        what: what.to_string(),
    };
    let found: String = sqlx::query_scalar("PRAGMA integrity_check(1)")
        .fetch_one(&mut *connection)
        .await
        .map_err(|error| damaged(&error))?;
    if found != "ok" {
        return Err(damaged(&found));
    }
    migrations::check(connection)
        .await
        .map_err(|_| damaged(&"its schema is another one"))?;
    let operations: i64 = sqlx::query_scalar("SELECT count(*) FROM operations")
        .fetch_one(connection)
        .await
        .map_err(|error| damaged(&error))?;
    Ok(operations.unsigned_abs())
}

fn failed(path: &Path) -> impl FnOnce(sqlx::Error) -> BackupError {
    let path = path.to_owned();
    move |cause| {
        BackupError::Open(OpenError::Database {
            path,
            cause: Box::new(cause),
        })
    }
}

/// The file of an incomplete backup; removed if it is never completed.
struct Incomplete {
    path: PathBuf,
}

impl Incomplete {
    /// Creates an empty file that only its owner may read.
    fn begin(target: &Path) -> Result<Self, BackupError> {
        let mut name = target.as_os_str().to_owned();
        name.push(INCOMPLETE);
        let path = PathBuf::from(name);
        let made = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(FILE_MODE)
            .open(&path);
        match made {
            Ok(_) => Ok(Self { path }),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(BackupError::Incomplete { incomplete: path })
            }
            Err(cause) => Err(BackupError::File { path, cause }),
        }
    }

    fn text(&self) -> Result<&str, BackupError> {
        self.path.to_str().ok_or(BackupError::NoFile)
    }

    /// Gives the file its final name, unless that was taken in the meantime; returns its size.
    fn complete(self, target: &Path) -> Result<u64, BackupError> {
        let written = |path: &Path, done: io::Result<()>| {
            done.map_err(|cause| BackupError::File {
                path: path.to_owned(),
                cause,
            })
        };
        let mut bytes = 0;
        let synced = File::open(&self.path).and_then(|file| {
            bytes = file.metadata()?.len();
            file.sync_all()
        });
        written(&self.path, synced)?;
        // Unlike renaming, a link overwrites nothing.
        std::fs::hard_link(&self.path, target).map_err(|cause| {
            let (target, is_taken) = (
                target.to_owned(),
                cause.kind() == io::ErrorKind::AlreadyExists,
            );
            if is_taken {
                BackupError::TargetExists { target }
            } else {
                BackupError::File {
                    path: target,
                    cause,
                }
            }
        })?;
        drop(self);
        let folder = target.parent().unwrap_or(target);
        written(folder, File::open(folder).and_then(|it| it.sync_all()))?;
        Ok(bytes)
    }
}

impl Drop for Incomplete {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}
