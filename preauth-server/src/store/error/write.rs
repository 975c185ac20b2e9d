//! Why a write did not succeed.

use std::error::Error as StdError;
use std::sync::Arc;

use preauth_core::port::{CommitError, Unavailable};
use thiserror::Error;

use crate::directory::DirectoryError;
use crate::fair::QueueError;
use crate::store::rows::Corrupt;

use super::codes::{
    breaks_constraint, code, ends_connection, is_duplicate, is_locked, is_rolled_back,
};
use super::fault::Fault;

/// Why a write did not succeed.
#[derive(Debug, Error)]
pub(in crate::store) enum WriteError {
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
    /// Others have locked a row that it needs; nothing was written.
    #[error("a row that the write needs is locked by others")]
    Locked(#[source] Fault),
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

/// The meaning of an error in answer to COMMIT. Only an error that the database reports as a
/// rollback is certain: a server that is stopped may have committed before.
pub(in crate::store) fn after_commit(error: sqlx::Error) -> WriteError {
    let is_rolled_back = match code(&error).as_deref() {
        Some(code) => is_rolled_back(code) || breaks_constraint(code),
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
pub(in crate::store) fn after_autocommit(error: sqlx::Error) -> WriteError {
    match code(&error) {
        Some(code) if !ends_connection(&code) => error.into(),
        Some(_) | None => WriteError::Unknown(Box::new(Fault::Database(error))),
    }
}

/// Checks that a statement changed exactly one row.
pub(in crate::store) fn one_row_or(affected: u64, otherwise: WriteError) -> Result<(), WriteError> {
    if affected == 1 {
        Ok(())
    } else {
        Err(otherwise)
    }
}

/// For writes whose port has no other error.
pub(in crate::store) fn unavailable(error: WriteError) -> Unavailable {
    Unavailable {
        cause: match error {
            WriteError::NotDone(cause) | WriteError::Busy(cause) | WriteError::Unknown(cause) => {
                cause
            }
            WriteError::Lost(fault) | WriteError::Locked(fault) => Box::new(fault),
            error @ (WriteError::NotFound
            | WriteError::Conflict
            | WriteError::InProgress
            | WriteError::RolledBack) => Box::new(error),
        },
    }
}

/// The same error for a number of callers.
pub(in crate::store) fn unavailable_to_all<T>(
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

impl From<sqlx::Error> for WriteError {
    fn from(error: sqlx::Error) -> Self {
        if is_duplicate(&error) {
            Self::Conflict
        } else if code(&error).is_some_and(|code| is_rolled_back(&code)) {
            Self::RolledBack
        } else if is_locked(&error) {
            Self::Locked(Fault::Database(error))
        } else {
            let fault = Fault::Database(error);
            if fault.is_broken_connection() {
                Self::Lost(fault)
            } else {
                Self::NotDone(Box::new(fault))
            }
        }
    }
}

impl From<Fault> for WriteError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Database(error) => error.into(),
            Fault::Queue(error) => error.into(),
            Fault::NoConnection(_)
            | Fault::TimedOut
            | Fault::Corrupt(_)
            | Fault::Schema(_)
            | Fault::ReadOnly
            | Fault::Refused(_)
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

impl From<Corrupt> for WriteError {
    fn from(corrupt: Corrupt) -> Self {
        Fault::from(corrupt).into()
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
            WriteError::Locked(fault) => Self::Busy(Box::new(fault)),
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
            error @ (WriteError::NotDone(_)
            | WriteError::Busy(_)
            | WriteError::Locked(_)
            | WriteError::Lost(_)) => Self::Unavailable(unavailable(error)),
            WriteError::Unknown(cause) => Self::Unknown(cause),
        }
    }
}
