//! What a queue in front of a task answers in place of the task.

use thiserror::Error;

/// Why a request was not answered by the task it was meant for.
#[derive(Clone, Copy, Debug, Error)]
pub(super) enum QueueError {
    /// Too many wait already; nothing was done.
    #[error("too many requests to the database are waiting")]
    Full,
    /// The database was closed; nothing was done.
    #[error("the database was closed")]
    Closed,
    /// The task ended before it answered; what it did is not known.
    #[error("the task that should have answered ended before it did")]
    Lost,
}
