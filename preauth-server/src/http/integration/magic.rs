//! Magic values: texts that make a sandbox refuse a request.
//!
//! `sandbox:<CODE>` as a create's `invoice.number` (in the first create of a batch, a code that concerns requests
//! refuses the batch); as the `externalReference` of an operation that
//! is read or cancelled; as the `externalReference` that a list is filtered by. The refusal is
//! built like the real one. It comes after the request was checked (key, limit, permission, format)
//! and before anything is looked up, stored or changed.

use preauth_core::ErrorCode;
use preauth_core::operation::{Offer, Operation, Rejection};
use preauth_core::port::{Filter, PageRequest};
use preauth_core::service::ServiceError;
use preauth_core::value::OperationId;

use crate::http::caller::Caller;
use crate::http::error::ApiError;
use crate::http::problem::{Defect, Problem};

use super::IntegrationApi;

/// Prefix of a magic value; the code follows.
pub const MAGIC_PREFIX: &str = "sandbox:";

/// The logged cause of a provoked failure.
const CAUSE: &str = "provoked by a magic value";
const NUMBER: &str = "invoice.number";
const REFERENCE: &str = "externalReference";

/// Recognises magic values. Only a sandbox has it; in production `sandbox:RATE_LIMITED` is an
/// ordinary number.
#[derive(Clone, Copy, Debug)]
pub struct Magic {
    _only_a_sandbox_makes_one: (),
}

/// How a refusal is built like the real one.
#[derive(Clone, Copy)]
enum Recipe {
    /// The code alone.
    Code,
    /// With the invalid fields.
    Problems,
    /// With the operation that already has the invoice.
    Duplicate,
    /// With the operation that was created under the key.
    Reused,
    /// With the allowed methods.
    OtherMethod,
    /// For a key that another request holds.
    InProgress,
    /// With a used up rate window.
    UsedUp,
    /// As an internal failure.
    Failure,
    /// As a temporary outage.
    Outage,
}

/// The kind of request that carries the magic value.
#[derive(Clone, Copy)]
enum RequestKind {
    Create,
    Operation,
    List,
    Events,
}

impl Magic {
    /// For a sandbox only; a server in production must not have it.
    #[must_use]
    pub const fn of_a_sandbox() -> Self {
        Self {
            _only_a_sandbox_makes_one: (),
        }
    }

    /// The codes that may follow the prefix: every code of the integration API.
    pub fn codes() -> impl Iterator<Item = ErrorCode> {
        let codes = ErrorCode::ALL.iter().copied();
        codes.filter(|code| recipe(*code).is_some())
    }

    /// Refuses a create whose invoice number is magic. A magic reference takes effect on later
    /// requests, but one that would not work then is refused now.
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
            RequestKind::Create,
            asked_for(NUMBER, number.as_str())?,
        )
        .await
    }

    /// Refuses a whole batch, if the invoice number of its first create asks for a refusal that concerns the
    /// request, not one create.
    pub(super) async fn check_batch(
        self,
        api: &IntegrationApi,
        caller: &Caller,
        first: &Offer,
    ) -> Result<(), ApiError> {
        let Some(number) = &first.invoice.number else {
            return Ok(());
        };
        // An unknown code is a problem of that create.
        let asked = asked_for(NUMBER, number.as_str()).ok().flatten();
        let whole = asked.filter(|code| concerns_a_request(*code));
        refuse(api, caller, RequestKind::Create, whole).await
    }

    /// Refuses a request about an operation whose reference is magic.
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
        refuse(api, caller, RequestKind::Operation, code).await
    }

    /// Refuses a list whose filter is magic.
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
        refuse(api, caller, RequestKind::List, code).await
    }

    /// Refuses a request for events whose cursor is magic.
    pub(super) async fn check_cursor(
        self,
        api: &IntegrationApi,
        caller: &Caller,
        cursor: &str,
    ) -> Result<(), ApiError> {
        refuse(
            api,
            caller,
            RequestKind::Events,
            asked_for("after", cursor)?,
        )
        .await
    }
}

/// The code in a magic value; an unknown code is refused.
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

/// Whether a batch is refused as a whole with a code.
const fn concerns_a_request(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::BadRequest
            | ErrorCode::ApiKeyInvalid
            | ErrorCode::ApiKeyRevoked
            | ErrorCode::ApiKeyExpired
            | ErrorCode::IntegrationScopeForbidden
            | ErrorCode::IntegrationResponsibleForbidden
            | ErrorCode::RbacForbidden
            | ErrorCode::PreAuthOnlyConstrutora
            | ErrorCode::RequestTimeout
            | ErrorCode::PayloadTooLarge
            | ErrorCode::RateLimited
            | ErrorCode::InternalError
            | ErrorCode::ServiceUnavailable
    )
}

/// How the integration API answers a code; `None` for codes of the platform API alone.
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
        | ErrorCode::EventCursorExpired => Some(Recipe::Code),
        ErrorCode::ValidationError => Some(Recipe::Problems),
        ErrorCode::PreAuthDuplicateInvoice => Some(Recipe::Duplicate),
        ErrorCode::IdempotencyKeyReused => Some(Recipe::Reused),
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
        | ErrorCode::PlatformTokenInvalid
        | ErrorCode::OperatorForbidden
        | ErrorCode::FourEyesRequired => None,
    }
}

/// Refuses the request with `code`, if there is one.
async fn refuse(
    api: &IntegrationApi,
    caller: &Caller,
    asked: RequestKind,
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
        Recipe::Reused => ServiceError::IdempotencyKeyReused {
            operation: Some(newest(api, caller).await?),
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

impl RequestKind {
    /// Problems that a request of this kind can have.
    fn problems(self) -> Vec<Problem> {
        match self {
            Self::Create => vec![
                Problem::new("supplier.email", Defect::Required),
                Problem::new("invoice.amount", Defect::AmountOutOfRange),
            ],
            Self::Operation => vec![Problem::new("id", Defect::NotNumeric)],
            Self::List | Self::Events => vec![Problem::new(
                "limit",
                Defect::WholeNumber { min: 1, max: 100 },
            )],
        }
    }

    /// The methods of this kind's path.
    const fn methods(self) -> &'static str {
        match self {
            Self::Create | Self::List => "GET, HEAD, POST",
            Self::Operation | Self::Events => "GET, HEAD",
        }
    }
}

/// An operation that the caller can look up; before the first one, the id that it will have.
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
    fn only_the_exact_text_is_magic_and_an_unknown_code_is_reported() {
        for ordinary in ["NF-1", "Sandbox:RATE_LIMITED", "RATE_LIMITED", "xsandbox:"] {
            assert_eq!(asked_for("field", ordinary).unwrap(), None, "{ordinary}");
        }
        for mistyped in ["sandbox:", "sandbox:RATE_LIMTED", "sandbox:rate_limited"] {
            let refused = asked_for("field", mistyped).unwrap_err();
            assert_eq!(refused.code, ErrorCode::ValidationError, "{mistyped}");
        }
    }
}
