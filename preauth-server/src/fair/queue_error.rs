//! Refusals by a queue.

use thiserror::Error;

/// Why a queue refused a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum QueueError {
    /// Too many requests are waiting; nothing was done.
    #[error("too many requests are waiting")]
    Full,
    /// The request waited too long; nothing was done.
    #[error("the request waited in queues for too long")]
    TimedOut,
    /// Shutdown has begun; nothing was done.
    #[error("the service is closing")]
    Closed,
    /// The task that should have answered has ended; whether the request was processed is unknown.
    #[error("the task that should have answered ended before it did")]
    Lost,
}
