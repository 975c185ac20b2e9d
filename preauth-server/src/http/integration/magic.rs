//! Magic values: texts by which the caller of a sandbox asks for a refusal.
//!
//! `sandbox:<CODE>` as a create's `invoice.number`; as the `externalReference` of an operation that
//! is got or cancelled; as the `externalReference` that a list is filtered by. The refusal is built
//! as the real one is, and comes after the request itself was checked (key, limit, permission,
//! form) and before anything is looked up, remembered or changed.

use preauth_core::ErrorCode;
use preauth_core::operation::{Offer, Operation, Rejection};
use preauth_core::port::{Filter, PageRequest};
use preauth_core::service::ServiceError;
use preauth_core::value::OperationId;

use crate::http::caller::Caller;
use crate::http::error::ApiError;
use crate::http::problem::{Defect, Problem};

use super::IntegrationApi;

/// What a magic value begins with; the code follows.
pub const MAGIC_PREFIX: &str = "sandbox:";

/// What the log says of a failure that was asked for.
const CAUSE: &str = "provoked by a magic value";
const NUMBER: &str = "invoice.number";
const REFERENCE: &str = "externalReference";

/// What makes values magic. A sandbox has it; to a server in production, which has none,
/// `sandbox:RATE_LIMITED` is a number like any other.
#[derive(Clone, Copy, Debug)]
pub struct Magic {
    _only_a_sandbox_makes_one: (),
}

/// How a refusal is made like the real one.
#[derive(Clone, Copy)]
enum Recipe {
    /// The code says everything.
    Code,
    /// Names the fields that are wrong.
    Problems,
    /// Names the operation in the way.
    Duplicate,
    /// Names the methods that are there.
    OtherMethod,
    /// Another request holds the idempotency key.
    InProgress,
    /// Uses the caller's window up.
    UsedUp,
    /// Something failed inside.
    Failure,
    /// Something is not there for the moment.
    Outage,
}

/// What was asked of the API.
#[derive(Clone, Copy)]
enum Asked {
    Create,
    Operation,
    List,
}

impl Magic {
    /// The magic of a sandbox; a server in production must not have it.
    #[must_use]
    pub const fn of_a_sandbox() -> Self {
        Self {
            _only_a_sandbox_makes_one: (),
        }
    }

    /// The codes that can follow the prefix: all that the integration API answers.
    pub fn codes() -> impl Iterator<Item = ErrorCode> {
        let codes = ErrorCode::ALL.iter().copied();
        codes.filter(|code| recipe(*code).is_some())
    }

    /// Refuses a create whose invoice number asks for it; a reference is for later, but one that
    /// could not work then is told now.
    pub(super) async fn check_offer(
        self,
        api: &IntegrationApi,
        caller: &Caller,
        offer: &Offer,
    ) -> Result<(), ApiError> {
        if let Some(reference) = &offer.external_reference {
            asked_for(REFERENCE, reference.as_str())?;
        }
        let Some(number) = &offer.invoice.number else {
            return Ok(());
        };
        refuse(
            api,
            caller,
            Asked::Create,
            asked_for(NUMBER, number.as_str())?,
        )
        .await
    }

    /// Refuses what is asked of an operation whose reference asks for it.
    pub(super) async fn check_operation(
        self,
        api: &IntegrationApi,
        caller: &Caller,
        operation: &Operation,
    ) -> Result<(), ApiError> {
        let Some(reference) = &operation.external_reference else {
            return Ok(());
        };
        let code = asked_for(REFERENCE, reference.as_str())?;
        refuse(api, caller, Asked::Operation, code).await
    }

    /// Refuses a list whose filter asks for it.
    pub(super) async fn check_filter(
        self,
        api: &IntegrationApi,
        caller: &Caller,
        filter: &Filter,
    ) -> Result<(), ApiError> {
        let Some(reference) = &filter.external_reference else {
            return Ok(());
        };
        let code = asked_for(REFERENCE, reference.as_str())?;
        refuse(api, caller, Asked::List, code).await
    }
}

/// The code that a text asks for, if it begins like a magic value; a mistyped code is told.
fn asked_for(field: &str, text: &str) -> Result<Option<ErrorCode>, ApiError> {
    let Some(name) = text.strip_prefix(MAGIC_PREFIX) else {
        return Ok(None);
    };
    let found = Magic::codes().find(|code| code.as_str() == name);
    if found.is_none() {
        let codes = Magic::codes().map(ErrorCode::as_str).collect();
        return Err(ApiError::problem(field, Defect::NotMagic { codes }));
    }
    Ok(found)
}

/// How the integration API comes to answer a code; none for those of the platform API alone.
const fn recipe(code: ErrorCode) -> Option<Recipe> {
    match code {
        ErrorCode::BadRequest
        | ErrorCode::ApiKeyInvalid
        | ErrorCode::ApiKeyRevoked
        | ErrorCode::ApiKeyExpired
        | ErrorCode::IntegrationScopeForbidden
        | ErrorCode::IntegrationResponsibleForbidden
        | ErrorCode::RbacForbidden
        | ErrorCode::PreAuthOnlyConstrutora
        | ErrorCode::AnticipationNotFound
        | ErrorCode::AnticipationInvalidTransition
        | ErrorCode::FileTooLarge
        | ErrorCode::AnticipationInvalidDueDate
        | ErrorCode::AnticipationDueDateTooFar
        | ErrorCode::CreditAnalysisDueDateExceeded
        | ErrorCode::CreditAnalysisInvoiceAmountExceeded
        | ErrorCode::PreAuthSupplierNameRequired
        | ErrorCode::PreAuthSupplierSelf
        | ErrorCode::PreAuthSupplierBlocked
        | ErrorCode::InvalidFileType
        | ErrorCode::InvoiceFileType
        | ErrorCode::InvoiceFileNameTooLong
        | ErrorCode::FileQuotaExceeded
        | ErrorCode::PreAuthAlreadyRequested
        | ErrorCode::PreAuthAlreadyClosed
        | ErrorCode::NotFound
        | ErrorCode::RequestTimeout
        | ErrorCode::PayloadTooLarge
        | ErrorCode::IdempotencyKeyInvalid
        | ErrorCode::IdempotencyKeyReused => Some(Recipe::Code),
        ErrorCode::ValidationError => Some(Recipe::Problems),
        ErrorCode::PreAuthDuplicateInvoice => Some(Recipe::Duplicate),
        ErrorCode::MethodNotAllowed => Some(Recipe::OtherMethod),
        ErrorCode::IdempotencyInProgress => Some(Recipe::InProgress),
        ErrorCode::RateLimited => Some(Recipe::UsedUp),
        ErrorCode::InternalError => Some(Recipe::Failure),
        ErrorCode::ServiceUnavailable => Some(Recipe::Outage),
        ErrorCode::ResourceNotFound
        | ErrorCode::ResourceConflict
        | ErrorCode::ResponsibleUserRefused
        | ErrorCode::EndpointNotHeadOffice
        | ErrorCode::SupplierNotRegistered
        | ErrorCode::EndpointUrlRefused
        | ErrorCode::PlatformTokenInvalid => None,
    }
}

/// Refuses with `code`, if one was asked for.
async fn refuse(
    api: &IntegrationApi,
    caller: &Caller,
    asked: Asked,
    code: Option<ErrorCode>,
) -> Result<(), ApiError> {
    let Some((code, recipe)) = code.and_then(|code| Some((code, recipe(code)?))) else {
        return Ok(());
    };
    Err(match recipe {
        Recipe::Code => ApiError::new(code),
        Recipe::Problems => ApiError::validation(asked.problems()),
        Recipe::Duplicate => Rejection::DuplicateInvoice {
            existing: newest(api, caller).await?,
        }
        .into(),
        Recipe::OtherMethod => ApiError::new(code).allow(asked.methods()),
        Recipe::InProgress => ServiceError::IdempotencyInProgress.into(),
        Recipe::UsedUp => match caller.window {
            Some(window) => window.used_up(),
            None => ApiError::new(code),
        },
        Recipe::Failure => ApiError::internal(CAUSE),
        Recipe::Outage => ApiError::unavailable(CAUSE),
    })
}

impl Asked {
    /// Problems that such a request can have.
    fn problems(self) -> Vec<Problem> {
        match self {
            Self::Create => vec![
                Problem::new("supplier.email", Defect::Required),
                Problem::new("invoice.amount", Defect::AmountOutOfRange),
            ],
            Self::Operation => vec![Problem::new("id", Defect::NotNumeric)],
            Self::List => vec![Problem::new(
                "limit",
                Defect::WholeNumber { min: 1, max: 100 },
            )],
        }
    }

    /// The methods of a path at which this can be asked.
    const fn methods(self) -> &'static str {
        match self {
            Self::Create | Self::List => "GET, HEAD, POST",
            Self::Operation => "GET, HEAD",
        }
    }
}

/// An operation that the caller can look up; before the first, the id that it will have.
async fn newest(api: &IntegrationApi, caller: &Caller) -> Result<OperationId, ApiError> {
    let newest = PageRequest { page: 1, limit: 1 };
    let found = api
        .queries
        .list(caller.viewer(), &Filter::default(), newest)
        .await?;
    let newest = found.operations.first().map(|operation| operation.id);
    newest
        .or(OperationId::new(1))
        .ok_or_else(|| ApiError::internal("there is no first id"))
}

#[cfg(test)]
mod tests {
    use super::{MAGIC_PREFIX, Magic, asked_for};
    use preauth_core::ErrorCode;
    use preauth_core::value::{ExternalReference, InvoiceNumber};

    #[test]
    fn every_code_of_the_contract_is_magic_and_fits_its_field() {
        for code in ErrorCode::ALL.iter().filter(|code| code.is_of_contract()) {
            assert!(Magic::codes().any(|magic| magic == *code), "{code:?}");
        }
        for code in Magic::codes() {
            let text = format!("{MAGIC_PREFIX}{}", code.as_str());
            assert!(InvoiceNumber::parse(&text).is_ok(), "{text}");
            assert!(ExternalReference::parse(&text).is_ok(), "{text}");
            assert_eq!(asked_for("field", &text).unwrap(), Some(code));
        }
    }

    #[test]
    fn only_the_exact_text_is_magic_and_a_mistyped_code_is_told() {
        for ordinary in ["NF-1", "Sandbox:RATE_LIMITED", "RATE_LIMITED", "xsandbox:"] {
            assert_eq!(asked_for("field", ordinary).unwrap(), None, "{ordinary}");
        }
        for mistyped in ["sandbox:", "sandbox:RATE_LIMTED", "sandbox:rate_limited"] {
            let refused = asked_for("field", mistyped).unwrap_err();
            assert_eq!(refused.code, ErrorCode::ValidationError, "{mistyped}");
        }
    }
}
