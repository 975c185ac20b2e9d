//! Errors of the client.

mod config;
mod display;
mod kind;
mod line;

use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use preauth_core::ErrorCode;
use preauth_core::value::{IdempotencyKey, OperationId};
use preauth_core::wire::{BatchResult, ErrorBody, Open, from_json};
use reqwest::StatusCode;

use crate::answer_head::AnswerHead;
use crate::{Call, RateLimit};

pub use config::ConfigError;
pub use kind::ErrorKind;

/// Why a call did not succeed.
///
/// Its text names code, message, fields, what was called, and request id, so that one line in a log is
/// enough for support. Without an answer, the idempotency key identifies a create that was carried out.
/// The underlying error is the [`source`](StdError::source). `Debug` writes the same text and then its
/// sources, on one line, because a `main` that returns the error prints `Debug`.
///
/// ```
/// use preauth_client::{Error, ErrorCode};
///
/// fn explain(error: &Error) -> &'static str {
///     match error.code().and_then(|code| code.known()) {
///         Some(ErrorCode::PreAuthDuplicateInvoice) => "already offered",
///         Some(ErrorCode::PreAuthSupplierBlocked) => "ask the company",
///         _ if error.is_retryable() => "later, with the same key",
///         _ => "a person must look",
///     }
/// }
/// ```
pub struct Error {
    inner: Box<Inner>,
}

/// Boxed to keep `Error` small, because errors are returned by value through every layer.
struct Inner {
    kind: ErrorKind,
    head: Option<AnswerHead>,
    body: Option<ErrorBody>,
    raw: Option<Vec<u8>>,
    source: Option<Box<dyn StdError + Send + Sync>>,
    call: Option<Call>,
    /// The operation that the call named.
    operation: Option<OperationId>,
    /// The operation that an earlier duplicate refusal named.
    existing: Option<OperationId>,
    attempts: u32,
    idempotency_key: Option<IdempotencyKey>,
}

/// One problem of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem<'a> {
    /// The code to branch on.
    pub code: &'a Open<ErrorCode>,
    /// A sentence in Portuguese, to show to people.
    pub message: &'a str,
    /// The path of the field, such as `invoice.dueDate`, if the problem belongs to one.
    pub field: Option<&'a str>,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind) -> Self {
        Self {
            inner: Box::new(Inner {
                kind,
                head: None,
                body: None,
                raw: None,
                source: None,
                call: None,
                operation: None,
                existing: None,
                attempts: 0,
                idempotency_key: None,
            }),
        }
    }

    pub(crate) fn answered(kind: ErrorKind, head: AnswerHead) -> Self {
        let mut error = Self::new(kind);
        error.inner.head = Some(head);
        error
    }

    /// The error of an answer that is not a success. Only a body in the error format of the contract is a
    /// refusal of the service.
    pub(crate) fn refused(head: AnswerHead, raw: Option<Vec<u8>>) -> Self {
        let mut error = Self::answered(ErrorKind::UnexpectedAnswer, head);
        let body = raw.as_deref().map(from_json::<ErrorBody>);
        if let Some(Ok(body)) = body
            && !body.errors.is_empty()
        {
            error.inner.kind = ErrorKind::Api;
            error.inner.body = Some(body);
        }
        error.inner.raw = raw;
        error
    }

    /// The error of an item of a batch, which was answered with `head`: that of a single create.
    pub(crate) fn of_item(head: AnswerHead, result: BatchResult) -> Self {
        let status = StatusCode::from_u16(result.status).unwrap_or(head.status);
        let mut error = Self::answered(ErrorKind::UnexpectedAnswer, AnswerHead { status, ..head });
        if !result.errors.is_empty() {
            error.inner.kind = ErrorKind::Api;
            let mut body = ErrorBody::from(result.errors);
            body.details = result.details;
            error.inner.body = Some(body);
        }
        error
    }

    pub(crate) fn with_raw(mut self, raw: Vec<u8>) -> Self {
        self.inner.raw = Some(raw);
        self
    }

    pub(crate) fn caused_by(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.inner.source = Some(source.into());
        self
    }

    /// Adds the details of the whole call.
    pub(crate) fn of_call(
        mut self,
        call: Call,
        operation: Option<OperationId>,
        idempotency_key: Option<&IdempotencyKey>,
        attempts: u32,
    ) -> Self {
        self.inner.call = Some(call);
        self.inner.operation = operation;
        self.inner.attempts = attempts;
        self.inner.idempotency_key = idempotency_key.cloned();
        self
    }

    /// Status and headers of the answer, if there was one.
    pub(crate) fn head(&self) -> Option<&AnswerHead> {
        self.inner.head.as_ref()
    }

    /// Adds the operation and the key of a duplicate refusal to the failed read of that operation.
    pub(crate) fn after_duplicate(mut self, duplicate: &Self) -> Self {
        self.inner.existing = duplicate.existing_operation_id();
        self.inner
            .idempotency_key
            .clone_from(&duplicate.inner.idempotency_key);
        self
    }

    /// The kind of failure.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.inner.kind
    }

    /// The HTTP status, if there was an answer.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        self.inner.head.as_ref().map(|head| head.status.as_u16())
    }

    /// The code of the refusal; `None` if the service did not return one. A code that this version does
    /// not know keeps its text.
    #[must_use]
    pub fn code(&self) -> Option<&Open<ErrorCode>> {
        self.inner.body.as_ref().and_then(ErrorBody::code)
    }

    /// The message of the refusal: a sentence in Portuguese that came with the code.
    #[must_use]
    pub fn message(&self) -> Option<&str> {
        let first = self.inner.body.as_ref()?.errors.first()?;
        Some(&first.message)
    }

    /// All problems of the request, each with its field if it has one.
    pub fn problems(&self) -> impl Iterator<Item = Problem<'_>> {
        let body = self.inner.body.as_ref();
        let errors = body.map_or(&[][..], |body| &body.errors);
        let details = body
            .and_then(|body| body.details.as_deref())
            .unwrap_or_default();
        errors.iter().enumerate().map(|(index, error)| Problem {
            code: &error.code,
            message: &error.message,
            field: details
                .get(index)
                .and_then(|detail| detail.field.as_deref()),
        })
    }

    /// The operation in progress that holds the same invoice, if this is `PRE_AUTH_DUPLICATE_INVOICE`, or
    /// if [`create_or_get`](crate::Client::create_or_get) could not read that operation.
    #[must_use]
    pub fn existing_operation_id(&self) -> Option<OperationId> {
        self.inner.existing.or_else(|| self.duplicate_of())
    }

    fn duplicate_of(&self) -> Option<OperationId> {
        let body = self.inner.body.as_ref()?;
        if *body.code()? != ErrorCode::PreAuthDuplicateInvoice {
            return None;
        }
        body.details.as_ref()?.first()?.anticipation_id
    }

    /// Whether the same call may succeed later. A create must then be sent with the same
    /// [`idempotency_key`](Self::idempotency_key), because the failed one may have been carried out.
    ///
    /// True for connection failures, timeouts, interrupted exchanges, 408, 429, 500 to 504,
    /// `IDEMPOTENCY_IN_PROGRESS` of a create, and `ANTICIPATION_INVALID_TRANSITION` of a cancel: the
    /// operation changed during the cancel, and a new cancel is decided by the new state.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        match self.inner.kind {
            ErrorKind::Connect | ErrorKind::Timeout | ErrorKind::Transport => true,
            ErrorKind::Config
            | ErrorKind::Randomness
            | ErrorKind::File
            | ErrorKind::Cursor
            | ErrorKind::AnswerTooLarge
            | ErrorKind::UnreadableSuccess => false,
            ErrorKind::Api | ErrorKind::UnexpectedAnswer => {
                let by_status = matches!(self.status(), Some(408 | 429 | 500..=504));
                by_status || self.is_passing()
            }
        }
    }

    /// Whether the code reports a temporary condition of this call.
    fn is_passing(&self) -> bool {
        let code = self.code().and_then(Open::known);
        match self.inner.call {
            Some(Call::Create) => code == Some(&ErrorCode::IdempotencyInProgress),
            Some(Call::Cancel) => code == Some(&ErrorCode::AnticipationInvalidTransition),
            Some(Call::CreateMany | Call::Validate | Call::Get | Call::List | Call::Events)
            | None => false,
        }
    }

    /// How long to wait before the next attempt: the time that the service asks for, or, if it asks for
    /// none and the request limit is used up, the time until the limit resets.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        let head = self.inner.head.as_ref()?;
        let limit = head.rate_limit.filter(|limit| limit.remaining() == 0);
        head.retry_after.or_else(|| {
            let limit = limit.filter(|_| head.status == StatusCode::TOO_MANY_REQUESTS)?;
            Some(limit.resets_in())
        })
    }

    /// Which call failed; `None` for one that was set up wrongly.
    #[must_use]
    pub fn call(&self) -> Option<Call> {
        self.inner.call
    }

    /// The bytes of the answer, in any format; `None` if there was no answer, or if it was longer than
    /// the client accepts.
    #[must_use]
    pub fn raw(&self) -> Option<&[u8]> {
        self.inner.raw.as_deref()
    }

    /// The service's id of the last request; give it to support.
    #[must_use]
    pub fn request_id(&self) -> Option<&str> {
        self.inner.head.as_ref()?.request_id.as_deref()
    }

    /// The state of the request limit, if the answer reported it.
    #[must_use]
    pub fn rate_limit(&self) -> Option<RateLimit> {
        self.inner.head.as_ref()?.rate_limit
    }

    /// Number of requests sent.
    #[must_use]
    pub fn attempts(&self) -> u32 {
        self.inner.attempts
    }

    /// The key under which a create was sent, chosen by the caller or drawn by the client. Keep it:
    /// repeated creates with this key and the same content are carried out at most once.
    #[must_use]
    pub fn idempotency_key(&self) -> Option<&IdempotencyKey> {
        self.inner.idempotency_key.as_ref()
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        let source = self.inner.source.as_deref()?;
        Some(source)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        line::with_causes(self, f)
    }
}

impl From<ConfigError> for Error {
    fn from(error: ConfigError) -> Self {
        Self::new(ErrorKind::Config).caused_by(error)
    }
}
