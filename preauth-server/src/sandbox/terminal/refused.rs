//! Why a command was not executed.

use preauth_core::operation::Rejection;
use preauth_core::port::Unavailable;
use preauth_core::service::ServiceError;
use preauth_core::value::{OperationId, Status};

use crate::clock::TravelError;
use crate::language::Language;
use crate::log::chain;
use crate::sandbox::words;

const SECONDS_PER_DAY: u64 = 86_400;

/// A refusal, as the user reads it.
#[derive(Debug)]
pub(super) enum Refused {
    NoSuchOperation(OperationId),
    NotNow {
        id: OperationId,
        status: Status,
        /// The statuses in which it is possible.
        wanted: String,
        /// The commands that are possible.
        possible: String,
    },
    NoExtension(OperationId),
    Rejected(Rejection),
    Travel(TravelError),
    NoDemoCompany,
    Failed(ServiceError),
}

impl Refused {
    pub(super) fn text(&self, language: Language) -> String {
        match self {
            Self::NoSuchOperation(id) => words::no_such_operation(language, *id),
            Self::NotNow {
                id,
                status,
                wanted,
                possible,
            } => words::not_now(language, *id, *status, wanted, possible),
            Self::NoExtension(id) => words::no_extension(language, *id),
            Self::Rejected(rejection) => {
                let why = words::rejection(language, *rejection);
                words::rejected(language, rejection.code().as_str(), &why)
            }
            Self::Travel(TravelError::TooFar { max_seconds }) => {
                let days = max_seconds.div_euclid(SECONDS_PER_DAY);
                words::too_far(language, days, *max_seconds)
            }
            // A failure of the machine; its text is that of the log.
            Self::Travel(error @ TravelError::NotKept(_)) => words::failed(language, &chain(error)),
            Self::NoDemoCompany => words::NO_DEMO_COMPANY.of(language).to_owned(),
            Self::Failed(error) => words::failed(language, &chain(error)),
        }
    }
}

impl From<ServiceError> for Refused {
    fn from(error: ServiceError) -> Self {
        match error {
            ServiceError::Rejected(Rejection::NotFound) | ServiceError::UnknownCompany => {
                Self::NoDemoCompany
            }
            ServiceError::Rejected(rejection) => Self::Rejected(rejection),
            ServiceError::OrderRejected(_)
            | ServiceError::Changed { .. }
            | ServiceError::IdempotencyKeyReused { .. }
            | ServiceError::IdempotencyInProgress
            | ServiceError::Unprepared(_)
            | ServiceError::NotDone(_)
            | ServiceError::Busy(_)
            | ServiceError::Unknown(_) => Self::Failed(error),
        }
    }
}

impl From<TravelError> for Refused {
    fn from(error: TravelError) -> Self {
        Self::Travel(error)
    }
}

impl From<Unavailable> for Refused {
    fn from(unavailable: Unavailable) -> Self {
        Self::Failed(unavailable.into())
    }
}
