//! Errors between the ports and the database.

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
/// A write on a standby, or on a read-only server.
const READ_ONLY_TRANSACTION: &str = "25006";
const LOCK_NOT_AVAILABLE: &str = "55P03";
/// Class of violations of the schema's constraints.
const CLASS_INTEGRITY: &str = "23";
/// Class of values that do not fit their column.
const CLASS_DATA: &str = "22";

/// A failed statement, or a row that this build cannot read.
#[derive(Debug, Error)]
pub(super) enum Fault {
    /// The database returned an error or did not answer.
    #[error("the database did not do what it was asked")]
    Database(#[from] sqlx::Error),
    /// The database did not answer in time.
    #[error("the database did not answer in time")]
    TimedOut,
    /// A stored value that this server cannot have written.
    #[error(transparent)]
    Corrupt(#[from] Corrupt),
    /// This build does not support the database's schema.
    #[error("the database cannot be used: {0}")]
    Schema(#[from] SchemaMismatch),
    /// The database is a standby, or set to read-only.
    #[error("the database takes no writes")]
    ReadOnly,
    /// There is no connection, because the server behind the database's name must not be used.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// Too many requests wait, or shutdown has begun.
    #[error(transparent)]
    Queue(#[from] QueueError),
    /// Other transactions kept a needed row locked for too long.
    #[error("what it needs stayed locked by others")]
    StillLocked,
    /// Every id of a kind was used.
    #[error("there are no ids left")]
    NoIdsLeft,
}

/// Why a write did not succeed.
#[derive(Debug, Error)]
pub(super) enum WriteError {
    /// A record that it names does not exist.
    #[error("a record that the write names does not exist")]
    NotFound,
    /// A conflicting record exists, or a record was changed concurrently.
    #[error("another record stands in the way")]
    Conflict,
    /// Another write with the same key is in progress; nothing was written.
    #[error("the same is being written at this moment")]
    InProgress,
    /// The database rolled it back because of another transaction; it may be repeated unchanged.
    #[error("the database rolled the write back on account of another")]
    RolledBack,
    /// The connection was lost before COMMIT was sent, or its server accepts no writes; nothing was
    /// written, and it may be repeated unchanged on another connection.
    #[error("the connection was lost before anything was written")]
    Lost(#[source] Fault),
    /// Nothing was written.
    #[error("nothing was written")]
    NotDone(#[source] Box<dyn StdError + Send + Sync>),
    /// Nothing was written, and an immediate retry would not help.
    #[error("nothing was written, because too much is waiting")]
    Busy(#[source] Box<dyn StdError + Send + Sync>),
    /// Everything or nothing was written.
    #[error("it is not known whether anything was written")]
    Unknown(#[source] Box<dyn StdError + Send + Sync>),
}

impl Fault {
    /// Whether a statement timed out while it waited for a lock.
    pub(super) fn is_locked(&self) -> bool {
        matches!(self, Self::Database(error) if is_locked(error))
    }

    /// Whether the connection is unusable; the database may work nevertheless.
    pub(super) fn is_broken_connection(&self) -> bool {
        match self {
            // Another server may accept the writes that this one refuses.
            Self::Database(sqlx::Error::Io(_) | sqlx::Error::Protocol(_) | sqlx::Error::Tls(_))
            | Self::ReadOnly => true,
            // After most of these the server ends the connection: it is shutting down, or was asked
            // to.
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

/// The meaning of an error in answer to COMMIT. Only an error that the database reports as a
/// rollback is certain: a server that is stopped may have committed before.
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

/// The meaning of an error in answer to a statement that is its own transaction: nothing was
/// written if the database reports a reason, unless it is being stopped.
pub(super) fn after_autocommit(error: sqlx::Error) -> WriteError {
    match code(&error) {
        Some(code) if !ends_connection(&code) => error.into(),
        Some(_) | None => WriteError::Unknown(Box::new(Fault::Database(error))),
    }
}

/// Whether the written data violates a constraint of the schema, or the type of a column.
pub(super) fn breaks_rule(error: &sqlx::Error) -> bool {
    code(error)
        .is_some_and(|code| code.starts_with(CLASS_INTEGRITY) || code.starts_with(CLASS_DATA))
}

/// Whether the statement timed out while it waited for a lock.
pub(super) fn is_locked(error: &sqlx::Error) -> bool {
    code(error).is_some_and(|code| code == LOCK_NOT_AVAILABLE)
}

/// Checks that a statement changed exactly one row.
pub(super) fn one_row_or(affected: u64, otherwise: WriteError) -> Result<(), WriteError> {
    if affected == 1 {
        Ok(())
    } else {
        Err(otherwise)
    }
}

/// For writes whose port has no other error.
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

/// The same error for a number of callers.
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
            // Without an answer it is unknown whether the commit was written.
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
            // A commit refers only to records that its load found. If one no longer exists, a new
            // load shows it.
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
