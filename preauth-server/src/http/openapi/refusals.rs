//! The texts of refusals, and the meaning of their codes.

use std::collections::BTreeMap;

use preauth_core::ErrorCode;
use preauth_core::wire::{ErrorBody, ErrorDetail};
use serde_json::Value;

use crate::http::error::field_of;
use crate::http::{sentence, status};

use super::document::{Content, Ref, RefOr, Response};
use super::example::Example;
use super::headers;
use super::listed::Listed;
use super::schema::Schema;

/// A refusal common to many operations, and its name in `components`.
pub(in crate::http) struct Shared {
    pub(in crate::http) name: &'static str,
    pub(in crate::http) codes: &'static [ErrorCode],
}

/// The refusals of one API.
pub(in crate::http) struct Refusals {
    /// The schema of their bodies.
    pub(in crate::http) body: Schema,
    /// Refusals with exactly these codes become references.
    pub(in crate::http) shared: &'static [Shared],
    /// The headers of every refusal of an authenticated caller.
    pub(in crate::http) headers: &'static [&'static str],
}

impl Refusals {
    /// The answers for these codes, by status.
    pub(in crate::http) fn answers(
        &self,
        codes: &[ErrorCode],
    ) -> impl Iterator<Item = (u16, RefOr<Response>)> {
        let mut by_status = BTreeMap::<u16, Vec<ErrorCode>>::new();
        for code in ErrorCode::ALL.iter().filter(|code| codes.contains(code)) {
            by_status.entry(status(*code)).or_default().push(*code);
        }
        by_status
            .into_iter()
            .map(|(status, codes)| (status, self.answer(&codes)))
    }

    /// The shared refusals, for `components`.
    pub(in crate::http) fn components(&self) -> Listed<Response> {
        let shared = self.shared.iter();
        shared
            .map(|shared| (shared.name, self.here(shared.codes)))
            .collect()
    }

    fn answer(&self, codes: &[ErrorCode]) -> RefOr<Response> {
        match self.shared.iter().find(|shared| shared.codes == codes) {
            Some(shared) => RefOr::Ref(Ref::response(shared.name)),
            None => RefOr::Here(self.here(codes)),
        }
    }

    fn here(&self, codes: &[ErrorCode]) -> Response {
        let lines: Vec<_> = codes.iter().map(|code| line(*code)).collect();
        let extra = headers::of_refusal(codes);
        let content = Content {
            example: Example::Value(codes.first().map_or(Value::Null, |code| example(*code))),
            ..Content::new(self.body.clone())
        };
        Response {
            description: lines.join("\n"),
            error_codes: codes.iter().map(|code| code.as_str()).collect(),
            headers: headers::of(self.headers.iter().chain(&extra)),
            content: Listed::from_iter([(Content::JSON, content)]),
        }
    }
}

fn line(code: ErrorCode) -> String {
    format!("- `{code}`: {}", meaning(code))
}

fn example(code: ErrorCode) -> Value {
    let mut body = ErrorBody::new(code, sentence(code));
    body.details = detail(code).map(|detail| vec![detail]);
    serde_json::to_value(body).unwrap_or_default()
}

fn detail(code: ErrorCode) -> Option<ErrorDetail> {
    match code {
        ErrorCode::ValidationError => Some(ErrorDetail {
            field: Some("invoice.dueDate".to_owned()),
            ..ErrorDetail::default()
        }),
        ErrorCode::PreAuthDuplicateInvoice => Some(ErrorDetail {
            anticipation_id: preauth_core::value::OperationId::new(41),
            ..ErrorDetail::default()
        }),
        _ => field_of(code).map(|field| ErrorDetail {
            field: Some(field.to_owned()),
            ..ErrorDetail::default()
        }),
    }
}

/// When a code is answered, and the remedy.
#[expect(clippy::too_many_lines, reason = "a table, one row per code")]
const fn meaning(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::ValidationError => {
            "a field of the path, query or body is missing or badly formed; one item per problem, and `details` names the fields in the same order"
        }
        ErrorCode::BadRequest => {
            "the request as a whole cannot be read: another Content-Type, a compressed body, an ambiguous head"
        }
        ErrorCode::IdempotencyKeyInvalid => {
            "the Idempotency-Key is not 8 to 100 characters of `A-Za-z0-9._:-`, or was sent twice"
        }
        ErrorCode::ApiKeyInvalid => "no API key, or one that was never issued",
        ErrorCode::ApiKeyRevoked => "the API key was revoked",
        ErrorCode::ApiKeyExpired => "the validity of the API key is over",
        ErrorCode::PlatformTokenInvalid => {
            "the operator token is missing, wrong, expired or revoked"
        }
        ErrorCode::OperatorForbidden => {
            "the operator's role is below the operation's `x-minimum-role`"
        }
        ErrorCode::FourEyesRequired => {
            "the platform demands four eyes (`rules.four_eyes`), and this operator released the operation: another operator must pay it"
        }
        ErrorCode::IntegrationScopeForbidden => "the key lacks the scope of this operation",
        ErrorCode::IntegrationResponsibleForbidden => {
            "the key's responsible user lacks a permission"
        }
        ErrorCode::RbacForbidden => {
            "the key's responsible user is deactivated or no longer of the company, or the company or its head office is suspended"
        }
        ErrorCode::PreAuthOnlyConstrutora => {
            "only a key of a construction company's head office may create"
        }
        ErrorCode::AnticipationNotFound => "no such operation, or none of the caller's",
        ErrorCode::NotFound => "there is no such path here",
        ErrorCode::ResourceNotFound => "no such record",
        ErrorCode::MethodNotAllowed => "the path has no such method; `Allow` names those it has",
        ErrorCode::RequestTimeout => "the body did not arrive within 60 seconds",
        ErrorCode::PreAuthDuplicateInvoice => {
            "an operation in progress holds this invoice number of this supplier; `details[0].anticipationId` is its id: query it instead of creating another"
        }
        ErrorCode::AnticipationInvalidTransition => {
            "the state does not allow this, or changed during the call; look again before repeating"
        }
        ErrorCode::IdempotencyKeyReused => {
            "the Idempotency-Key already created something from another body; never repeat"
        }
        ErrorCode::IdempotencyInProgress => {
            "the first request with this Idempotency-Key is still being processed; repeat after `Retry-After`"
        }
        ErrorCode::EventCursorExpired => {
            "an event after the cursor was removed, or the database lost a part of its history: begin again without `after`, and look up the operations in progress"
        }
        ErrorCode::ResourceConflict => "the record exists already, or is in the way of the change",
        ErrorCode::FileTooLarge => "the file is above 10 MB",
        ErrorCode::PayloadTooLarge => {
            "the JSON body, or all text parts together, are above 256 KiB"
        }
        ErrorCode::AnticipationInvalidDueDate => "the due date is less than 5 days from today",
        ErrorCode::AnticipationDueDateTooFar => "the due date is more than 180 days from today",
        ErrorCode::CreditAnalysisDueDateExceeded => {
            "the term is above what the company's credit limit allows"
        }
        ErrorCode::CreditAnalysisInvoiceAmountExceeded => {
            "the amount is above what the company's credit limit allows"
        }
        ErrorCode::PreAuthSupplierNameRequired => {
            "the supplier is not registered, and its name or contact name was not sent"
        }
        ErrorCode::PreAuthSupplierSelf => "the supplier is the company or one of its branches",
        ErrorCode::PreAuthSupplierBlocked => "the supplier is in the company's block list",
        ErrorCode::InvalidFileType => "the content of the file is neither PDF nor XML",
        ErrorCode::InvoiceFileType => "the declared type of the file is neither PDF nor XML",
        ErrorCode::InvoiceFileNameTooLong => "the name of the file is above 255 characters",
        ErrorCode::FileQuotaExceeded => {
            "the files of the company's operations have all the room that the platform grants them; ask the platform, or send the create without a file"
        }
        ErrorCode::PreAuthAlreadyRequested => "the supplier already requested the advance",
        ErrorCode::PreAuthAlreadyClosed => {
            "closed for another reason than a cancellation through the integration"
        }
        ErrorCode::ResponsibleUserRefused => {
            "the user chosen for the key is inactive, of another company, or lacks a permission"
        }
        ErrorCode::EndpointNotHeadOffice => "webhook endpoints belong to head offices",
        ErrorCode::SupplierNotRegistered => {
            "the supplier is invited by companies, and not registered on the platform"
        }
        ErrorCode::EndpointUrlRefused => {
            "webhooks are not sent to such an address; the message states why"
        }
        ErrorCode::RateLimited => "the request limit is reached; repeat after `Retry-After`",
        ErrorCode::InternalError => {
            "something failed inside, or the outcome is unknown: look before repeating"
        }
        ErrorCode::ServiceUnavailable => "nothing was done; repeat after `Retry-After`",
    }
}
