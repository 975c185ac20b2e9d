//! Why a use case failed.

use std::error::Error as StdError;

use thiserror::Error;

use crate::operation::Rejection;
use crate::payment_order::OrderRejection;
use crate::port::Unavailable;
use crate::value::{OperationId, Version};

/// The failure of a use case: refused, not done, or unknown.
#[derive(Error)]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub enum ServiceError {
    /// The rules refused; nothing was changed.
    #[error(transparent)]
    Rejected(#[from] Rejection),
    /// The rules of payment orders refused; nothing was changed.
    #[error(transparent)]
    OrderRejected(#[from] OrderRejection),
    /// The record is not in the version that the caller has seen ([`Operations::if_version`](super::Operations::if_version)).
    /// Nothing was changed.
    #[error("the record has changed since it was read: it is in version {stored}")]
    Changed {
        /// The stored version.
        stored: Version,
    },
    /// The idempotency key was used with another request; this request needs a new key.
    #[error("the idempotency key was used with another request; a new request needs a new key")]
    IdempotencyKeyReused {
        /// The operation that was created under the key; `None` for the platform's creates.
        operation: Option<OperationId>,
    },
    /// The first request under this idempotency key is still being processed.
    #[error("a request with this idempotency key is still being processed; send it again later")]
    IdempotencyInProgress,
    /// The company or the supplier that the request names is not registered.
    #[error("the company or the supplier is not registered")]
    UnknownCompany,
    /// Nothing was done, because the [`Preparation`](super::Preparation) of the offer failed.
    #[error(transparent)]
    Unprepared(Box<dyn StdError + Send + Sync>),
    /// Nothing was done; the same request may be sent again.
    #[error("nothing was done; the same request may be sent again")]
    NotDone(#[source] Box<dyn StdError + Send + Sync>),
    /// Nothing was done and no retry was made, because the host is overloaded. The same request may be
    /// sent again later.
    #[error("nothing was done, because too much is waiting; send the same request again later")]
    Busy(#[source] Box<dyn StdError + Send + Sync>),
    /// It is unknown whether the request was executed. To find out, send the same request under the same
    /// idempotency key, or read the operation.
    #[error(
        "it is not known whether it was done; look at the operation, or send the same request under the same key"
    )]
    Unknown(#[source] Box<dyn StdError + Send + Sync>),
}

crate::explained::explained!(ServiceError);

/// In every round, another caller committed first.
#[derive(Clone, Copy, Debug, Error)]
#[error("others committed first in every round")]
pub(super) struct Contended;

impl ServiceError {
    /// The same failure for a preliminary step: the requested change itself was not started, so an
    /// unknown outcome becomes [`NotDone`](Self::NotDone).
    pub(super) fn on_the_way(self) -> Self {
        match self {
            Self::Unknown(cause) => Self::NotDone(cause),
            other @ (Self::Rejected(_)
            | Self::OrderRejected(_)
            | Self::Changed { .. }
            | Self::IdempotencyKeyReused { .. }
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
