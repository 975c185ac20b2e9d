//! Why a command was not executed.

use preauth_core::operation::Rejection;
use preauth_core::port::Unavailable;
use preauth_core::service::ServiceError;
use preauth_core::value::OperationId;
use thiserror::Error;

use crate::clock::TravelError;
use crate::log::chain;

/// A refusal, as the user reads it.
#[derive(Debug, Error)]
pub(super) enum Refused {
    #[error("there is no operation {0}")]
    NoSuchOperation(OperationId),
    #[error(
        "refused: operation {id} is {status}, and that is possible in {wanted} only; possible now: {possible}"
    )]
    NotNow {
        id: OperationId,
        status: &'static str,
        wanted: String,
        possible: String,
    },
    #[error("operation {0} has no open extension")]
    NoExtension(OperationId),
    #[error("refused ({code}): {rejection}")]
    Rejected {
        code: &'static str,
        rejection: Rejection,
    },
    #[error(transparent)]
    Travel(#[from] TravelError),
    #[error("the sandbox's demo companies are not there any more")]
    NoDemoCompany,
    #[error("failed: {}", chain(.error))]
    Failed { error: ServiceError },
}

impl From<ServiceError> for Refused {
    fn from(error: ServiceError) -> Self {
        match error {
            ServiceError::Rejected(Rejection::NotFound) | ServiceError::UnknownCompany => {
                Self::NoDemoCompany
            }
            ServiceError::Rejected(rejection) => Self::Rejected {
                code: rejection.code().as_str(),
                rejection,
            },
            ServiceError::OrderRejected(_)
            | ServiceError::IdempotencyKeyReused
            | ServiceError::IdempotencyInProgress
            | ServiceError::Unprepared(_)
            | ServiceError::NotDone(_)
            | ServiceError::Busy(_)
            | ServiceError::Unknown(_) => Self::Failed { error },
        }
    }
}

impl From<Unavailable> for Refused {
    fn from(unavailable: Unavailable) -> Self {
        Self::Failed {
            error: unavailable.into(),
        }
    }
}
