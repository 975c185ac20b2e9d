//! A failed statement, or a row that this build cannot read.

use std::sync::Arc;

use preauth_core::port::Unavailable;
use sqlx::migrate::MigrateError;
use thiserror::Error;

use crate::fair::QueueError;
use crate::store::rows::Corrupt;
use crate::store::{SchemaMismatch, Unfit};

use super::codes::{code, ends_use, is_locked};
use super::said::said;

/// A failed statement, or a row that this build cannot read.
#[derive(Debug, Error)]
pub(in crate::store) enum Fault {
    /// The database returned an error or did not answer.
    #[error("the database did not do what it was asked: {}", said(.0))]
    Database(sqlx::Error),
    /// No connection is made.
    #[error("{0}")]
    NoConnection(Arc<str>),
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

/// Why connections to the server are not used.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub(in crate::store) enum Refusal {
    #[error("the server takes no writes")]
    ReadOnly,
    #[error("the server was the primary before the promotion of another")]
    OldTimeline,
}

impl Fault {
    /// Whether a statement timed out while it waited for a lock.
    pub(in crate::store) fn is_locked(&self) -> bool {
        matches!(self, Self::Database(error) if is_locked(error))
    }

    /// Whether the connection is unusable; the database may work nevertheless.
    pub(in crate::store) fn is_broken_connection(&self) -> bool {
        match self {
            // Another server may accept the writes that this one refuses.
            Self::Database(sqlx::Error::Io(_) | sqlx::Error::Protocol(_) | sqlx::Error::Tls(_))
            | Self::ReadOnly => true,
            // After most of these the server ends the connection: it is shutting down, or was asked
            // to.
            Self::Database(error) => code(error).is_some_and(|code| ends_use(&code)),
            Self::NoConnection(_)
            | Self::TimedOut
            | Self::Corrupt(_)
            | Self::Schema(_)
            | Self::Refused(_)
            | Self::Queue(_)
            | Self::StillLocked
            | Self::NoIdsLeft => false,
        }
    }
}

impl From<sqlx::Error> for Fault {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(error)
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

impl From<Fault> for Unavailable {
    fn from(fault: Fault) -> Self {
        Self {
            cause: match fault {
                // Callers refuse what comes next, too.
                Fault::Queue(error) => Box::new(error),
                fault => Box::new(fault),
            },
        }
    }
}

impl From<Fault> for Unfit {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Schema(mismatch) => Self::Schema(mismatch),
            Fault::ReadOnly | Fault::Refused(Refusal::ReadOnly) => Self::ReadOnly,
            Fault::Database(_)
            | Fault::NoConnection(_)
            | Fault::Refused(Refusal::OldTimeline)
            | Fault::TimedOut
            | Fault::Corrupt(_)
            | Fault::Queue(_)
            | Fault::StillLocked
            | Fault::NoIdsLeft => Self::Unreachable(fault.into()),
        }
    }
}
