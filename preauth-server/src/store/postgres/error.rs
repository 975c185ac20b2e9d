//! What can go wrong between a port and the database.

use std::error::Error as StdError;
use std::sync::Arc;

use preauth_core::port::{CommitError, Unavailable};
use sqlx::migrate::MigrateError;
use thiserror::Error;

use crate::directory::DirectoryError;
use crate::fair::QueueError;
use crate::store::rows::Corrupt;
use crate::store::{SchemaMismatch, Unfit};

use super::primary::Refusal;

/// Another record has the same key.
const UNIQUE_VIOLATION: &str = "23505";
const SERIALIZATION_FAILURE: &str = "40001";
const DEADLOCK_DETECTED: &str = "40P01";
/// A write on a standby, or on a server that was set to take none.
const READ_ONLY_TRANSACTION: &str = "25006";
const LOCK_NOT_AVAILABLE: &str = "55P03";
/// What was asked of the database breaks a rule of the schema.
const CLASS_INTEGRITY: &str = "23";
/// A value does not fit where it is to stand.
const CLASS_DATA: &str = "22";

/// A statement that failed, or a row that makes no sense.
#[derive(Debug, Error)]
pub(super) enum Fault {
    /// The database refused or did not answer.
    #[error("the database did not do what it was asked")]
    Database(#[from] sqlx::Error),
    /// The database did not answer in time.
    #[error("the database did not answer in time")]
    TimedOut,
    /// What is stored was not written by this server.
    #[error(transparent)]
    Corrupt(#[from] Corrupt),
    /// This build cannot work on the database's schema.
    #[error("the database cannot be used: {0}")]
    Schema(#[from] SchemaMismatch),
    /// A standby, or a database that was set to take no writes.
    #[error("the database takes no writes")]
    ReadOnly,
    /// There is no connection, because the server that the database's name leads to is not used.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// Too many wait, or the end has begun.
    #[error(transparent)]
    Queue(#[from] QueueError),
    /// Others hold what it needs, and did not let go of it in time.
    #[error("what it needs stayed locked by others")]
    StillLocked,
    /// Every number of a kind was given out.
    #[error("there are no ids left")]
    NoIdsLeft,
}

/// How a write ended that did not succeed.
#[derive(Debug, Error)]
pub(super) enum WriteError {
    /// A record that it names does not exist.
    #[error("a record that the write names does not exist")]
    NotFound,
    /// A record stands in its way, or changed meanwhile.
    #[error("another record stands in the way")]
    Conflict,
    /// Another write of the same is under way; nothing was written.
    #[error("the same is being written at this moment")]
    InProgress,
    /// The database rolled it back on account of another; it may be done again as it is.
    #[error("the database rolled the write back on account of another")]
    RolledBack,
    /// The connection was lost before COMMIT was sent, or its server takes no writes; nothing was
    /// written, and it may be done again as it is on another connection.
    #[error("the connection was lost before anything was written")]
    Lost(#[source] Fault),
    /// Nothing was written.
    #[error("nothing was written")]
    NotDone(#[source] Box<dyn StdError + Send + Sync>),
    /// Nothing was written, and trying again at once would not help.
    #[error("nothing was written, because too much is waiting")]
    Busy(#[source] Box<dyn StdError + Send + Sync>),
    /// All of it or nothing was written.
    #[error("it is not known whether anything was written")]
    Unknown(#[source] Box<dyn StdError + Send + Sync>),
}

impl Fault {
    /// Whether a statement waited for a lock for as long as it may.
    pub(super) fn is_locked(&self) -> bool {
        matches!(self, Self::Database(error) if is_locked(error))
    }

    /// Whether the connection, and perhaps not the database, is of no more use.
    pub(super) fn is_broken_connection(&self) -> bool {
        match self {
            // Another server may take the writes that this one does not.
            Self::Database(sqlx::Error::Io(_) | sqlx::Error::Protocol(_) | sqlx::Error::Tls(_))
            | Self::ReadOnly => true,
            // The server ends the connection after most of these: it is shutting down, or was told to.
            Self::Database(error) => code(error)
                .is_some_and(|code| ends_connection(&code) || code == READ_ONLY_TRANSACTION),
            Self::TimedOut
            | Self::Corrupt(_)
            | Self::Schema(_)
            | Self::Refused(_)
            | Self::Queue(_)
            | Self::StillLocked
            | Self::NoIdsLeft => false,
        }
    }
}

/// What an error in answer to COMMIT means. Only where the database says that it rolled back is
/// that certain: it may commit and then be stopped before it says so.
pub(super) fn after_commit(error: sqlx::Error) -> WriteError {
    let is_rolled_back = match code(&error).as_deref() {
        Some(SERIALIZATION_FAILURE | DEADLOCK_DETECTED) => true,
        Some(code) => code.starts_with(CLASS_INTEGRITY),
        None => false,
    };
    if is_rolled_back {
        error.into()
    } else {
        WriteError::Unknown(Box::new(Fault::Database(error)))
    }
}

/// What an error in answer to a statement means that is a transaction of its own: nothing was
/// written if the database says why, unless it says that it is being stopped.
pub(super) fn after_autocommit(error: sqlx::Error) -> WriteError {
    match code(&error) {
        Some(code) if !ends_connection(&code) => error.into(),
        Some(_) | None => WriteError::Unknown(Box::new(Fault::Database(error))),
    }
}

/// Whether what was to be written breaks a rule of the schema, or of a column's type.
pub(super) fn breaks_rule(error: &sqlx::Error) -> bool {
    code(error)
        .is_some_and(|code| code.starts_with(CLASS_INTEGRITY) || code.starts_with(CLASS_DATA))
}

/// Whether it waited for a lock for as long as it may.
pub(super) fn is_locked(error: &sqlx::Error) -> bool {
    code(error).is_some_and(|code| code == LOCK_NOT_AVAILABLE)
}

/// Checks that a statement touched exactly the one row it is about.
pub(super) fn one_row_or(affected: u64, otherwise: WriteError) -> Result<(), WriteError> {
    if affected == 1 {
        Ok(())
    } else {
        Err(otherwise)
    }
}

/// For writes whose port knows no other failure.
pub(super) fn unavailable(error: WriteError) -> Unavailable {
    Unavailable {
        cause: match error {
            WriteError::NotDone(cause) | WriteError::Busy(cause) | WriteError::Unknown(cause) => {
                cause
            }
            WriteError::Lost(fault) => Box::new(fault),
            error @ (WriteError::NotFound
            | WriteError::Conflict
            | WriteError::InProgress
            | WriteError::RolledBack) => Box::new(error),
        },
    }
}

/// The same failure for so many callers.
pub(super) fn unavailable_to_all<T>(
    callers: usize,
    cause: impl StdError + Send + Sync + 'static,
) -> Vec<Result<T, Unavailable>> {
    let cause = Arc::new(cause);
    let failed = || {
        let cause = Box::new(Arc::clone(&cause));
        Err(Unavailable { cause })
    };
    std::iter::repeat_with(failed).take(callers).collect()
}

fn ends_connection(code: &str) -> bool {
    code.starts_with("57P") || code.starts_with("08")
}

fn code(error: &sqlx::Error) -> Option<String> {
    let code = error.as_database_error()?.code()?;
    Some(code.into_owned())
}

impl From<sqlx::Error> for WriteError {
    fn from(error: sqlx::Error) -> Self {
        match code(&error).as_deref() {
            Some(UNIQUE_VIOLATION) => Self::Conflict,
            Some(SERIALIZATION_FAILURE | DEADLOCK_DETECTED) => Self::RolledBack,
            Some(LOCK_NOT_AVAILABLE) => Self::Busy(Box::new(Fault::Database(error))),
            Some(_) | None => {
                let fault = Fault::Database(error);
                if fault.is_broken_connection() {
                    Self::Lost(fault)
                } else {
                    Self::NotDone(Box::new(fault))
                }
            }
        }
    }
}

impl From<Fault> for WriteError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Database(error) => error.into(),
            Fault::TimedOut
            | Fault::Corrupt(_)
            | Fault::Schema(_)
            | Fault::ReadOnly
            | Fault::Refused(_)
            | Fault::Queue(_)
            | Fault::StillLocked
            | Fault::NoIdsLeft => Self::NotDone(Box::new(fault)),
        }
    }
}

impl From<QueueError> for WriteError {
    fn from(error: QueueError) -> Self {
        match error {
            QueueError::Full | QueueError::TimedOut => Self::Busy(Box::new(error)),
            QueueError::Closed => Self::NotDone(Box::new(error)),
            // Without an answer the commit may or may not have come to pass.
            QueueError::Lost => Self::Unknown(Box::new(error)),
        }
    }
}

impl From<MigrateError> for Fault {
    fn from(error: MigrateError) -> Self {
        Self::Database(match error {
            MigrateError::Execute(error) => error,
            error => error.into(),
        })
    }
}

impl From<Corrupt> for WriteError {
    fn from(corrupt: Corrupt) -> Self {
        Fault::from(corrupt).into()
    }
}

impl From<Fault> for Unavailable {
    fn from(fault: Fault) -> Self {
        Self {
            cause: Box::new(fault),
        }
    }
}

impl From<Fault> for Unfit {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Schema(mismatch) => Self::Schema(mismatch),
            Fault::ReadOnly | Fault::Refused(Refusal::ReadOnly) => Self::ReadOnly,
            Fault::Database(_)
            | Fault::Refused(Refusal::OldTimeline)
            | Fault::TimedOut
            | Fault::Corrupt(_)
            | Fault::Queue(_)
            | Fault::StillLocked
            | Fault::NoIdsLeft => Self::Unreachable(fault.into()),
        }
    }
}

impl From<WriteError> for CommitError {
    fn from(error: WriteError) -> Self {
        match error {
            // A commit names only what its load saw: if it is gone, loading again tells.
            WriteError::NotFound | WriteError::Conflict | WriteError::RolledBack => Self::Conflict,
            WriteError::InProgress => Self::InProgress,
            WriteError::NotDone(cause) => Self::NotDone(cause),
            WriteError::Busy(cause) => Self::Busy(cause),
            WriteError::Lost(fault) => Self::NotDone(Box::new(fault)),
            WriteError::Unknown(cause) => Self::Unknown(cause),
        }
    }
}

impl From<WriteError> for DirectoryError {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::NotFound => Self::NotFound,
            WriteError::Conflict | WriteError::RolledBack => Self::Conflict,
            WriteError::InProgress => Self::InProgress,
            error @ (WriteError::NotDone(_) | WriteError::Busy(_) | WriteError::Lost(_)) => {
                Self::Unavailable(unavailable(error))
            }
            WriteError::Unknown(cause) => Self::Unknown(cause),
        }
    }
}
