//! From a path to an open, migrated database that no other server has open.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use sqlx::sqlite::{
    SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqlitePool, SqlitePoolOptions,
    SqliteSynchronous,
};
use sqlx::{ConnectOptions, Connection};
use tokio::sync::Notify;
use tokio::task::JoinSet;

use crate::fair::Budget;
use crate::files;
use crate::store::OpenError;
use crate::store::error::{Fault, code};
use crate::store::grouping::Grouped;
use crate::store::idle_stack::IdleStack;
use crate::store::set_aside::SetAside;

use super::counters::Counters;
use super::mails::MailTurns;
use super::rate_windows::RateWindows;
use super::shared_read::{self, SharedRead};
use super::writer::Writer;
use super::{SqliteStore, migrations, offers, operations, statistics};

/// Only the owner may access a folder created here.
const FOLDER_MODE: u32 = 0o700;
/// Only the owner may read a file created here; the log beside the database inherits the mode.
pub(super) const FILE_MODE: u32 = 0o600;
/// Suffix of a database's name while it is being restored.
const RESTORING: &str = ".restoring";
/// How long a connection waits for another one's lock.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum wait of a read for a free connection.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);
/// Connections for one read at a time.
const READERS: u32 = 4;
/// Connections for combined reads: of offers, and of operations.
const SHARED_READERS: u32 = 2;
/// Maximum number of waiting reads, of all tenants together.
const READS_LIMIT: usize = 2048;
const WRITER_CACHE_KIB: &str = "-65536";
const READER_CACHE_KIB: &str = "-16384";
/// Size to which the log is truncated after a checkpoint.
const LOG_LIMIT_BYTES: &str = "67108864";

pub(super) async fn open(path: &Path) -> Result<SqliteStore, OpenError> {
    check_path(path)?;
    make_folder(path)?;
    check_place(path)?;
    check_owner(path).await?;
    let lock = lock(path)?;
    refuse_half_restored(path)?;
    make_file(path)?;
    let failed = |cause| database_error(path, cause);
    let mut connection = writing(path).connect().await.map_err(failed)?;
    let migrated = migrations::run(&mut connection).await;
    migrated.map_err(|fault| schema_error(path, fault))?;
    statistics::drop_at_start(&mut connection)
        .await
        .map_err(failed)?;
    end_leases(&mut connection).await.map_err(failed)?;
    let counters = Counters::seeded(&mut connection).await.map_err(failed)?;
    let readers = IdleStack::before(readers(path).await.map_err(failed)?);
    let waiting = Arc::new(Notify::new());
    let writer = Writer::spawn(writing(path), connection, lock, Arc::clone(&waiting));
    let writer = Arc::new(writer.map_err(|error| failed(error.into()))?);
    let windows = Arc::new(RateWindows::default());
    let mut tasks = JoinSet::new();
    tasks.spawn(Arc::clone(&windows).keep_saved(Arc::downgrade(&writer)));
    let offers = SharedRead::new(readers.clone(), |connection, offers| {
        Box::pin(offers::find_all(connection, offers))
    });
    let operations = SharedRead::new(readers.clone(), |connection, ids| {
        Box::pin(operations::by_ids(connection, ids))
    });
    Ok(SqliteStore {
        path: path.to_owned(),
        readers,
        offers: Grouped::spawn(offers, shared_read::LIMITS),
        operations: Grouped::spawn(operations, shared_read::LIMITS),
        reads: Budget::new(READERS.into(), READS_LIMIT),
        writer,
        keys: Arc::default(),
        windows,
        _tasks: tasks,
        counters,
        mail_turns: MailTurns::default(),
        full_mailboxes: Arc::default(),
        waiting,
        committed: Arc::default(),
        unsettled: Arc::default(),
        set_aside: Arc::new(SetAside::default()),
    })
}

/// Refuses a file that this build must not migrate, and changes nothing in it.
async fn check_owner(path: &Path) -> Result<(), OpenError> {
    if path.metadata().is_ok_and(|file| file.len() > 0) {
        let options = SqliteConnectOptions::new().filename(path);
        let connected = options.busy_timeout(BUSY_TIMEOUT).connect().await;
        let mut connection = connected.map_err(|cause| database_error(path, cause))?;
        let checked = migrations::check_owner(&mut connection).await;
        // A failure to close is irrelevant.
        let _ = connection.close().await;
        checked.map_err(|fault| match fault {
            Fault::Database(cause) => database_error(path, cause),
            fault => schema_error(path, fault),
        })?;
    }
    Ok(())
}

/// SQLite's code for a journal that a killed process left, which only a writer may roll back.
const READONLY_ROLLBACK: &str = "776";
/// The mask of SQLite's primary result code, without the extended part.
const PRIMARY_CODE: u32 = 0xFF;
const SQLITE_READONLY: u32 = 8;
const SQLITE_CORRUPT: u32 = 11;
const SQLITE_CANTOPEN: u32 = 14;

pub(super) fn database_error(path: &Path, cause: sqlx::Error) -> OpenError {
    let path = path.to_owned();
    let code = code(&cause);
    if code.as_deref() == Some(READONLY_ROLLBACK) {
        return OpenError::Unfinished { path };
    }
    if matches!(path.try_exists(), Ok(false)) {
        return OpenError::Absent { path };
    }
    let primary = code.and_then(|code| code.parse::<u32>().ok());
    let primary = primary.map(|code| code & PRIMARY_CODE);
    let cause = Box::new(cause);
    match primary {
        Some(SQLITE_READONLY | SQLITE_CANTOPEN) => OpenError::NotWritable { path, cause },
        Some(SQLITE_CORRUPT) => OpenError::Damaged { path, cause },
        Some(_) | None => OpenError::Database { path, cause },
    }
}

fn schema_error(path: &Path, fault: Fault) -> OpenError {
    match fault {
        Fault::Schema(mismatch) => OpenError::SchemaMismatch {
            database: path.display().to_string(),
            mismatch,
        },
        Fault::Database(cause) => match database_error(path, cause) {
            OpenError::Database { path, cause } => OpenError::Migration { path, cause },
            named => named,
        },
        cause => OpenError::Migration {
            path: path.to_owned(),
            cause: Box::new(cause),
        },
    }
}

/// Ends the leases of the previous process: the lock proves that it has ended.
async fn end_leases(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    sqlx::query("UPDATE deliveries SET leased_until = NULL WHERE leased_until IS NOT NULL")
        .execute(connection)
        .await
        .map(drop)
}

/// Refuses an invalid path of a file.
pub(in crate::store) fn check_path(path: &Path) -> Result<(), OpenError> {
    let text = path.to_string_lossy();
    // SQLite would interpret these as more than a path.
    if path.file_name().is_none() || text.contains([':', '?', '%']) || text.ends_with('/') {
        return Err(OpenError::NoFile);
    }
    Ok(())
}

pub(super) fn make_folder(path: &Path) -> Result<(), OpenError> {
    let Some(folder) = path.parent().filter(|it| !it.as_os_str().is_empty()) else {
        return Ok(());
    };
    DirBuilder::new()
        .recursive(true)
        .mode(FOLDER_MODE)
        .create(folder)
        .map_err(|cause| OpenError::Folder {
            path: folder.to_owned(),
            cause,
        })
}

/// Refuses a database that others could write, or replace: write access to it is enough to create keys.
pub(super) fn check_place(path: &Path) -> Result<(), OpenError> {
    ["", "-wal", "-shm"].into_iter().try_for_each(|suffix| {
        let mut file = path.as_os_str().to_owned();
        file.push(suffix);
        let path = PathBuf::from(file);
        files::check_authentic_place(&path).map_err(|cause| OpenError::Exposed { path, cause })
    })
}

/// The file that a restore into the database at `path` writes; servers refuse the database while it
/// exists.
pub(super) fn restoring(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(RESTORING);
    PathBuf::from(name)
}

/// A database that is being restored does not exist yet, and none may be made in its place.
pub(super) fn refuse_half_restored(path: &Path) -> Result<(), OpenError> {
    let incomplete = restoring(path);
    if incomplete.symlink_metadata().is_err() {
        return Ok(());
    }
    Err(OpenError::HalfRestored {
        path: path.to_owned(),
        incomplete,
    })
}

/// Locks the file as long as it is open: the operating system releases the lock even when the
/// process is killed.
pub(super) fn lock(database: &Path) -> Result<File, OpenError> {
    let mut name = database.as_os_str().to_owned();
    name.push(".lock");
    let path = PathBuf::from(name);
    let file = open_or_make(&path)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(OpenError::Locked { lock: path }),
        Err(TryLockError::Error(cause)) => Err(file_error(&path, cause)),
    }
}

/// Creates the file before SQLite does, which would make it readable for all.
pub(super) fn make_file(path: &Path) -> Result<(), OpenError> {
    open_or_make(path).map(drop)
}

fn open_or_make(path: &Path) -> Result<File, OpenError> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(FILE_MODE)
        .open(path)
        .map_err(|cause| file_error(path, cause))
}

fn file_error(path: &Path, cause: std::io::Error) -> OpenError {
    OpenError::File {
        path: path.to_owned(),
        cause,
    }
}

pub(super) fn writing(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        .busy_timeout(BUSY_TIMEOUT)
        .pragma("cache_size", WRITER_CACHE_KIB)
        .pragma("temp_store", "MEMORY")
        .pragma("journal_size_limit", LOG_LIMIT_BYTES)
}

async fn readers(path: &Path) -> Result<SqlitePool, sqlx::Error> {
    let options = SqliteConnectOptions::new()
        .filename(path)
        .read_only(true)
        .busy_timeout(BUSY_TIMEOUT)
        .pragma("cache_size", READER_CACHE_KIB)
        .pragma("temp_store", "MEMORY");
    SqlitePoolOptions::new()
        .max_connections(READERS.saturating_add(SHARED_READERS))
        .acquire_timeout(ACQUIRE_TIMEOUT)
        // A file does not disconnect, so connections are neither tested nor replaced.
        .test_before_acquire(false)
        .idle_timeout(None)
        .max_lifetime(None)
        .connect_with(options)
        .await
}

/// A new connection in place of an unusable one.
pub(super) async fn reconnect(
    options: &SqliteConnectOptions,
) -> Result<SqliteConnection, sqlx::Error> {
    options.connect().await
}
