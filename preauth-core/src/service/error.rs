//! Why a use case did not do what it was asked.

use std::error::Error as StdError;

use thiserror::Error;

use crate::operation::Rejection;
use crate::payment_order::OrderRejection;
use crate::port::Unavailable;

/// A use case's failure: refused, not done, or unknown.
#[derive(Error)]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub enum ServiceError {
    /// The rules refused; nothing was changed.
    #[error(transparent)]
    Rejected(#[from] Rejection),
    /// The rules of payment orders refused; nothing was changed.
    #[error(transparent)]
    OrderRejected(#[from] OrderRejection),
    /// The idempotency key has answered another request; it must never be sent with this one.
    #[error("the idempotency key was used with another request; a new request needs a new key")]
    IdempotencyKeyReused,
    /// The first request under this idempotency key is still being worked on.
    #[error("a request with this idempotency key is still being processed; send it again later")]
    IdempotencyInProgress,
    /// The company or the supplier that the request names is not registered.
    #[error("the company or the supplier is not registered")]
    UnknownCompany,
    /// Nothing was done, because what has to be in its place before could not be put there.
    #[error(transparent)]
    Unprepared(Box<dyn StdError + Send + Sync>),
    /// Nothing was done; the same request may be sent again.
    #[error("nothing was done; the same request may be sent again")]
    NotDone(#[source] Box<dyn StdError + Send + Sync>),
    /// Nothing was done, and it was not tried again: the host has too much to do. The same request
    /// may be sent again later.
    #[error("nothing was done, because too much is waiting; send the same request again later")]
    Busy(#[source] Box<dyn StdError + Send + Sync>),
    /// It is not known whether it was done; only a request under the same idempotency key, or a
    /// look at the operation, shows which.
    #[error(
        "it is not known whether it was done; look at the operation, or send the same request under the same key"
    )]
    Unknown(#[source] Box<dyn StdError + Send + Sync>),
}

crate::explained::explained!(ServiceError);

/// Other callers kept committing first, in every round.
#[derive(Clone, Copy, Debug, Error)]
#[error("others committed first in every round")]
pub(super) struct Contended;

impl ServiceError {
    /// The same cause, as the failure of a step on the way: what was asked for was not begun.
    pub(super) fn on_the_way(self) -> Self {
        match self {
            Self::Unknown(cause) => Self::NotDone(cause),
            other @ (Self::Rejected(_)
            | Self::OrderRejected(_)
            | Self::IdempotencyKeyReused
            | Self::IdempotencyInProgress
            | Self::UnknownCompany
            | Self::Unprepared(_)
            | Self::NotDone(_)
            | Self::Busy(_)) => other,
        }
    }
}

impl From<Contended> for ServiceError {
    fn from(contended: Contended) -> Self {
        Self::NotDone(contended.into())
    }
}

impl From<Unavailable> for ServiceError {
    fn from(unavailable: Unavailable) -> Self {
        Self::NotDone(unavailable.cause)
    }
}
