//! Converts the service's answers into outcomes of the model.

use crate::operation::Rejection;
use crate::service::{OfferOutcome, ServiceError};

use super::reference::Outcome;
use super::run::Run;

impl Run<'_> {
    pub(super) fn outcome_of_beginning(
        &mut self,
        found: Result<OfferOutcome, ServiceError>,
    ) -> Outcome {
        match found {
            Ok(OfferOutcome::Created { operation, body }) => {
                self.ids.push((operation.id, body));
                self.extensions.push(None);
                Outcome::Created
            }
            Ok(OfferOutcome::Replayed { body }) => {
                let original = self.ids.iter().position(|(_, original)| *original == body);
                Outcome::Replayed(original.unwrap())
            }
            Err(error) => self.refusal(&error),
        }
    }

    pub(super) fn refusal(&self, error: &ServiceError) -> Outcome {
        let rejection = match error {
            ServiceError::IdempotencyKeyReused { .. } => return Outcome::KeyReused,
            ServiceError::Rejected(rejection) => *rejection,
            other => panic!("{other:?}"),
        };
        Outcome::Refused(match rejection {
            Rejection::DuplicateInvoice { existing } => {
                let index = self.ids.iter().position(|(id, _)| *id == existing);
                return Outcome::Duplicate(index.unwrap());
            }
            Rejection::DueDateTooNear => "due date too near",
            Rejection::DueDateTooFar => "due date too far",
            Rejection::SupplierIsSelf => "self",
            Rejection::SupplierBlocked => "blocked",
            Rejection::SupplierNameRequired => "name required",
            Rejection::CreditTermExceeded => "credit term",
            Rejection::CreditAmountExceeded => "credit amount",
            Rejection::NotFound => "not found",
            Rejection::AlreadyRequested => "already requested",
            Rejection::AlreadyClosed => "already closed",
            Rejection::InvalidTransition { .. } => "transition",
            Rejection::NetAmountOutOfRange => "net amount",
            Rejection::ExtensionDueDateOutOfRange => "extension date",
            Rejection::ExtensionTotalOutOfRange => "extension total",
            Rejection::ExtensionNotOpen => "extension not open",
            Rejection::OwnRelease => "own release",
        })
    }
}
