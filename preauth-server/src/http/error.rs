//! The error type of both listeners, and the only mapping from code to status.

use std::error::Error as StdError;

use preauth_core::ErrorCode;
use preauth_core::operation::Rejection;
use preauth_core::payment_order::OrderRejection;
use preauth_core::port::Unavailable;
use preauth_core::service::ServiceError;
use preauth_core::value::OperationId;
use preauth_core::wire::{ErrorBody, ErrorDetail, ErrorItem};
use salvo::http::StatusCode;
use thiserror::Error;

use crate::directory::DirectoryError;
use crate::language::Language;

use super::problem::{Defect, Problem};
use super::reply::Reply;
use super::writes_under_way::Overloaded;
use super::{english, messages};

/// Seconds after which a request that had no effect may be retried.
const RETRY_SOON_SECONDS: u32 = 1;

/// An answer that is not a success, in the contract's "Error body".
#[derive(Debug)]
pub struct ApiError {
    /// The code of the error.
    pub code: ErrorCode,
    /// The message, if it is more specific than the code's own.
    message: Option<Box<Message>>,
    /// Every problem of every field, for validation errors.
    problems: Vec<Problem>,
    /// The operation that already has the invoice, or was created under the idempotency key.
    existing: Option<OperationId>,
    /// The field that it is about, if it is no validation error.
    field: Option<&'static str>,
    /// Seconds until the request may be retried.
    retry_after: Option<u32>,
    /// The methods of the path, if the framework does not list them.
    allow: Option<&'static str>,
    /// The cause, for the log only.
    cause: Option<Box<dyn StdError + Send + Sync>>,
}

/// A message that is more specific than its code's.
#[derive(Debug)]
struct Message {
    pt: String,
    /// For the console.
    en: Option<String>,
}

impl ApiError {
    /// An error with the code's own message.
    #[must_use]
    pub const fn new(code: ErrorCode) -> Self {
        Self {
            code,
            message: None,
            problems: Vec::new(),
            existing: None,
            field: field_of(code),
            retry_after: None,
            allow: None,
            cause: None,
        }
    }

    /// All problems of a request; `problems` is not empty.
    #[must_use]
    pub fn validation(problems: Vec<Problem>) -> Self {
        Self {
            problems,
            ..Self::new(ErrorCode::ValidationError)
        }
    }

    /// One problem of one field.
    #[must_use]
    pub fn problem(field: impl Into<String>, defect: Defect) -> Self {
        Self::validation(vec![Problem::new(field, defect)])
    }

    /// An internal error; the cause goes to the log only.
    pub fn internal(cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self {
            cause: Some(cause.into()),
            ..Self::new(ErrorCode::InternalError)
        }
    }

    /// The request had no effect, because a dependency is unavailable.
    pub fn unavailable(cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        let error = Self::new(ErrorCode::ServiceUnavailable).retry_after(RETRY_SOON_SECONDS);
        Self {
            cause: Some(cause.into()),
            ..error
        }
    }

    /// Whether it was refused because more writes came than are done.
    #[must_use]
    pub(super) fn is_of_overload(&self) -> bool {
        let cause = self.cause().and_then(|cause| cause.downcast_ref());
        cause == Some(&Overloaded)
    }

    /// Sets the seconds after which the request may be retried.
    #[must_use]
    pub const fn retry_after(mut self, seconds: u32) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    /// Sets the operation that is in the way.
    #[must_use]
    const fn naming(mut self, existing: OperationId) -> Self {
        self.existing = Some(existing);
        self
    }

    /// Sets the field that it is about.
    #[must_use]
    pub(super) const fn about(mut self, field: &'static str) -> Self {
        self.field = Some(field);
        self
    }

    /// Sets the methods of the path.
    #[must_use]
    pub const fn allow(mut self, methods: &'static str) -> Self {
        self.allow = Some(methods);
        self
    }

    /// Replaces the code's own message.
    #[must_use]
    pub fn message(mut self, pt: impl Into<String>) -> Self {
        let pt = pt.into();
        self.message = Some(Box::new(Message { pt, en: None }));
        self
    }

    /// Replaces the code's own message, also in English.
    #[must_use]
    pub(super) fn in_both(mut self, pt: impl Into<String>, en: impl Into<String>) -> Self {
        let (pt, en) = (pt.into(), Some(en.into()));
        self.message = Some(Box::new(Message { pt, en }));
        self
    }

    /// The status of its answer.
    #[must_use]
    pub(super) const fn status(&self) -> StatusCode {
        status(self.code)
    }

    /// The same failure of a request that had an effect before: it is not known which.
    #[must_use]
    pub(super) fn after_commit(self) -> Self {
        if self.code != ErrorCode::ServiceUnavailable {
            return self;
        }
        Self {
            code: ErrorCode::InternalError,
            retry_after: None,
            message: None,
            ..self
        }
    }

    /// Whether it says more than its code.
    #[must_use]
    pub(super) const fn has_message(&self) -> bool {
        self.message.is_some()
    }

    /// Adds the seconds after which the request may be retried to another answer.
    pub(super) fn add_retry_after(&self, reply: Reply) -> Reply {
        match self.retry_after {
            Some(seconds) => reply.header("retry-after", &seconds.to_string()),
            None => reply,
        }
    }

    /// Every problem of every field, for validation errors.
    #[must_use]
    pub(super) fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// What it says about the whole request, without the problems of single fields.
    #[must_use]
    pub(super) fn sentence(&self, language: Language) -> String {
        let specific = self.message.as_deref();
        match language {
            Language::Portuguese => specific.map(|it| it.pt.clone()),
            Language::English => specific.and_then(|it| it.en.clone()),
        }
        .unwrap_or_else(|| match language {
            Language::Portuguese => messages::sentence(self.code).to_owned(),
            Language::English => capital(english(self.code)),
        })
    }

    /// The cause, for the log only.
    #[must_use]
    pub fn cause(&self) -> Option<&(dyn StdError + Send + Sync + 'static)> {
        self.cause.as_deref()
    }

    /// The same, once its cause is logged.
    #[must_use]
    pub(super) fn without_cause(self) -> Self {
        Self {
            cause: None,
            ..self
        }
    }

    /// Converts the error into its answer.
    #[must_use]
    pub fn into_reply(self) -> Reply {
        let body = self.body();
        let json = serde_json::to_string(&body).unwrap_or_default();
        let mut reply = self.add_retry_after(Reply::json(status(self.code), json));
        if let Some(methods) = self.allow {
            reply = reply.header("allow", methods);
        }
        if status(self.code) == StatusCode::UNAUTHORIZED {
            reply = reply.header("www-authenticate", "Bearer");
        }
        reply
    }

    /// The body of the answer.
    pub(super) fn body(&self) -> ErrorBody {
        if self.problems.is_empty() {
            let mut body = ErrorBody::new(self.code, self.sentence(Language::Portuguese));
            let detail = ErrorDetail {
                anticipation_id: self.existing,
                field: self.field.map(str::to_owned),
            };
            body.details = (detail != ErrorDetail::default()).then(|| vec![detail]);
            return body;
        }
        let problems = || self.problems.iter();
        let item = |Problem { field, defect }: &Problem| {
            ErrorItem::new(self.code, messages::defect(field, defect))
        };
        let detail = |problem: &Problem| ErrorDetail {
            field: Some(problem.field.clone()),
            ..ErrorDetail::default()
        };
        ErrorBody {
            errors: problems().map(item).collect(),
            details: Some(problems().map(detail).collect()),
        }
    }
}

/// The field of a create that a rule refuses with a code.
#[must_use]
pub(super) const fn field_of(code: ErrorCode) -> Option<&'static str> {
    match code {
        ErrorCode::AnticipationInvalidDueDate
        | ErrorCode::AnticipationDueDateTooFar
        | ErrorCode::CreditAnalysisDueDateExceeded => Some("invoice.dueDate"),
        ErrorCode::CreditAnalysisInvoiceAmountExceeded => Some("invoice.amount"),
        _ => None,
    }
}

/// A sentence from a clause.
fn capital(clause: &str) -> String {
    let mut letters = clause.chars();
    let first = letters.next().map(|it| it.to_uppercase().to_string());
    format!("{}{}.", first.unwrap_or_default(), letters.as_str())
}

/// The only mapping from code to status (contract, "Errors").
#[must_use]
pub(super) const fn status(code: ErrorCode) -> StatusCode {
    match code {
        ErrorCode::ValidationError | ErrorCode::BadRequest | ErrorCode::IdempotencyKeyInvalid => {
            StatusCode::BAD_REQUEST
        }
        ErrorCode::ApiKeyInvalid
        | ErrorCode::ApiKeyRevoked
        | ErrorCode::ApiKeyExpired
        | ErrorCode::PlatformTokenInvalid => StatusCode::UNAUTHORIZED,
        ErrorCode::IntegrationScopeForbidden
        | ErrorCode::IntegrationResponsibleForbidden
        | ErrorCode::RbacForbidden
        | ErrorCode::PreAuthOnlyConstrutora
        | ErrorCode::OperatorForbidden
        | ErrorCode::FourEyesRequired => StatusCode::FORBIDDEN,
        ErrorCode::AnticipationNotFound | ErrorCode::NotFound | ErrorCode::ResourceNotFound => {
            StatusCode::NOT_FOUND
        }
        ErrorCode::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
        ErrorCode::RequestTimeout => StatusCode::REQUEST_TIMEOUT,
        ErrorCode::PreAuthDuplicateInvoice
        | ErrorCode::AnticipationInvalidTransition
        | ErrorCode::IdempotencyKeyReused
        | ErrorCode::IdempotencyInProgress
        | ErrorCode::ResourceConflict => StatusCode::CONFLICT,
        ErrorCode::FileTooLarge | ErrorCode::PayloadTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        ErrorCode::AnticipationInvalidDueDate
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
        | ErrorCode::ResponsibleUserRefused
        | ErrorCode::EndpointNotHeadOffice
        | ErrorCode::SupplierNotRegistered
        | ErrorCode::EndpointUrlRefused => StatusCode::UNPROCESSABLE_ENTITY,
        ErrorCode::EventCursorExpired => StatusCode::GONE,
        ErrorCode::RateLimited => StatusCode::TOO_MANY_REQUESTS,
        ErrorCode::InternalError => StatusCode::INTERNAL_SERVER_ERROR,
        ErrorCode::ServiceUnavailable => StatusCode::SERVICE_UNAVAILABLE,
    }
}

/// The status of a code as a number, for documents.
#[must_use]
pub(crate) fn status_number(code: ErrorCode) -> u16 {
    status(code).as_u16()
}

/// Why an offer that the rules accepted was not committed.
#[derive(Debug, Error)]
#[error("refused directly before the commit")]
pub(super) struct NotCommitted(pub(super) ApiError);

impl From<ServiceError> for ApiError {
    fn from(error: ServiceError) -> Self {
        match error {
            ServiceError::Rejected(rejection) => rejection.into(),
            ServiceError::OrderRejected(rejection) => rejection.into(),
            ServiceError::Changed { stored } => Self::new(ErrorCode::ResourceConflict)
                .in_both(messages::changed(stored), english::changed(stored)),
            ServiceError::IdempotencyKeyReused { operation } => {
                let error = Self::new(ErrorCode::IdempotencyKeyReused);
                match operation {
                    Some(id) => error.message(messages::KEY_OF_ANOTHER).naming(id),
                    None => error,
                }
            }
            ServiceError::IdempotencyInProgress => {
                Self::new(ErrorCode::IdempotencyInProgress).retry_after(RETRY_SOON_SECONDS)
            }
            ServiceError::UnknownCompany => Self::new(ErrorCode::ResourceNotFound),
            ServiceError::Unprepared(cause) => match cause.downcast::<NotCommitted>() {
                Ok(refused) => refused.0,
                Err(cause) => Self::internal(cause),
            },
            ServiceError::NotDone(cause) | ServiceError::Busy(cause) => Self::unavailable(cause),
            ServiceError::Unknown(cause) => Self::internal(cause),
        }
    }
}

impl From<Rejection> for ApiError {
    fn from(rejection: Rejection) -> Self {
        match rejection {
            Rejection::NetAmountOutOfRange => Self::problem("netAmount", Defect::NetAmount),
            Rejection::ExtensionDueDateOutOfRange => {
                Self::problem("newDueDate", Defect::ExtensionDueDate)
            }
            Rejection::ExtensionTotalOutOfRange => {
                Self::problem("totalAmount", Defect::MoneyOutOfRange)
            }
            Rejection::DuplicateInvoice { existing } => {
                Self::new(rejection.code()).naming(existing)
            }
            Rejection::InvalidTransition { status } => Self::new(rejection.code())
                .in_both(messages::transition(status), english::transition(status)),
            _ => Self::new(rejection.code()),
        }
    }
}

impl From<OrderRejection> for ApiError {
    fn from(rejection: OrderRejection) -> Self {
        match rejection {
            OrderRejection::NotFound => Self::new(ErrorCode::ResourceNotFound),
            OrderRejection::AlreadyOrdered { existing } => {
                let sentences = (
                    messages::already_ordered(existing),
                    english::already_ordered(existing),
                );
                Self::new(ErrorCode::ResourceConflict).in_both(sentences.0, sentences.1)
            }
            OrderRejection::InvalidTransition { status } => {
                Self::new(ErrorCode::AnticipationInvalidTransition).in_both(
                    messages::order_transition(status),
                    english::order_transition(status),
                )
            }
        }
    }
}

impl From<Unavailable> for ApiError {
    fn from(unavailable: Unavailable) -> Self {
        Self::unavailable(unavailable.cause)
    }
}

impl From<DirectoryError> for ApiError {
    fn from(error: DirectoryError) -> Self {
        match error {
            DirectoryError::NotFound => Self::new(ErrorCode::ResourceNotFound),
            DirectoryError::Conflict => Self::new(ErrorCode::ResourceConflict),
            DirectoryError::InProgress => ServiceError::IdempotencyInProgress.into(),
            DirectoryError::Unavailable(unavailable) => unavailable.into(),
            DirectoryError::Unknown(cause) => Self::internal(cause),
        }
    }
}

impl From<Vec<Problem>> for ApiError {
    fn from(problems: Vec<Problem>) -> Self {
        Self::validation(problems)
    }
}
