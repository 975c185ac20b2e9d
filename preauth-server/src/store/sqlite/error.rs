//! Errors between the ports and the database.

use std::error::Error as StdError;

use preauth_core::port::{CommitError, Unavailable};
use sqlx::migrate::MigrateError;
use thiserror::Error;

use crate::directory::DirectoryError;
use crate::fair::QueueError;
use crate::store::rows::Corrupt;
use crate::store::{SchemaMismatch, Unfit};

/// A failed statement, or a row that this build cannot read.
#[derive(Debug, Error)]
pub(super) enum Fault {
    /// The database returned an error or did not answer.
    #[error("the database did not do what it was asked")]
    Database(#[from] sqlx::Error),
    /// A stored value that this server cannot have written.
    #[error(transparent)]
    Corrupt(#[from] Corrupt),
    /// This build does not support the database's schema.
    #[error("the database cannot be used: {0}")]
    Schema(#[from] SchemaMismatch),
    /// Too many requests wait, or this one waited too long.
    #[error(transparent)]
    Queue(#[from] QueueError),
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
            error @ (WriteError::NotFound | WriteError::Conflict) => Box::new(error),
        },
    }
}

impl From<sqlx::Error> for WriteError {
    fn from(error: sqlx::Error) -> Self {
        if error
            .as_database_error()
            .is_some_and(sqlx::error::DatabaseError::is_unique_violation)
        {
            Self::Conflict
        } else {
            Self::NotDone(Box::new(Fault::Database(error)))
        }
    }
}

impl From<Fault> for WriteError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Database(error) => error.into(),
            Fault::Queue(error) => error.into(),
            Fault::Corrupt(_) | Fault::Schema(_) | Fault::NoIdsLeft => {
                Self::NotDone(Box::new(fault))
            }
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
            Fault::Database(_) | Fault::Corrupt(_) | Fault::Queue(_) | Fault::NoIdsLeft => {
                Self::Unreachable(fault.into())
            }
        }
    }
}

impl From<WriteError> for CommitError {
    fn from(error: WriteError) -> Self {
        match error {
            // A commit refers only to records that its load found. If one no longer exists, a new
            // load shows it.
            WriteError::NotFound | WriteError::Conflict => Self::Conflict,
            WriteError::NotDone(cause) => Self::NotDone(cause),
            WriteError::Busy(cause) => Self::Busy(cause),
            WriteError::Unknown(cause) => Self::Unknown(cause),
        }
    }
}

impl From<WriteError> for DirectoryError {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::NotFound => Self::NotFound,
            WriteError::Conflict => Self::Conflict,
            WriteError::NotDone(cause) | WriteError::Busy(cause) => {
                Self::Unavailable(Unavailable { cause })
            }
            WriteError::Unknown(cause) => Self::Unknown(cause),
        }
    }
}
