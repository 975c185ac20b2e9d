//! What the API's codes, defects and refusals mean in English; the API's own messages are Portuguese.

mod defect;
mod refusal;

use preauth_core::ErrorCode;

pub(super) use defect::defect;
pub(super) use refusal::{
    NAME_NOT_LOOKED_UP, already_ordered, changed, held, order_transition, refusal, transition,
};

/// The meaning of a code.
#[expect(clippy::too_many_lines, reason = "one sentence per code, in one place")]
pub(crate) const fn english(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::ValidationError => "fields of the request are invalid",
        ErrorCode::BadRequest => "the request is malformed",
        ErrorCode::ApiKeyInvalid => "the API key is missing or invalid",
        ErrorCode::ApiKeyRevoked => "the API key was revoked",
        ErrorCode::ApiKeyExpired => "the API key has expired",
        ErrorCode::IntegrationScopeForbidden => "the API key lacks the scope for this",
        ErrorCode::IntegrationResponsibleForbidden => {
            "the key's responsible user may not request and pre-authorize advances"
        }
        ErrorCode::RbacForbidden => {
            "permission denied: the key's responsible user is inactive or has left the company"
        }
        ErrorCode::PreAuthOnlyConstrutora => {
            "only the head office of a construction company can offer"
        }
        ErrorCode::AnticipationNotFound => "there is no such operation",
        ErrorCode::PreAuthDuplicateInvoice => {
            "an operation in progress already uses this invoice of this supplier"
        }
        ErrorCode::AnticipationInvalidTransition => {
            "the operation's status does not allow this action, or changed during the call"
        }
        ErrorCode::FileTooLarge => "the invoice file is above 10 MB",
        ErrorCode::AnticipationInvalidDueDate => "the due date is less than 5 days from today",
        ErrorCode::AnticipationDueDateTooFar => "the due date is more than 180 days from today",
        ErrorCode::CreditAnalysisDueDateExceeded => {
            "the term exceeds what the company's credit analysis allows"
        }
        ErrorCode::CreditAnalysisInvoiceAmountExceeded => {
            "the amount exceeds what the company's credit analysis allows"
        }
        ErrorCode::PreAuthSupplierNameRequired => {
            "the supplier is not registered, and its name or contact name is missing"
        }
        ErrorCode::PreAuthSupplierSelf => {
            "the supplier is the company itself or one of its branches"
        }
        ErrorCode::PreAuthSupplierBlocked => "the company has blocked the supplier",
        ErrorCode::InvalidFileType => "the content of the file is neither a PDF nor an XML",
        ErrorCode::InvoiceFileType => "the declared type of the file is neither PDF nor XML",
        ErrorCode::InvoiceFileNameTooLong => "the file's name is longer than 255 characters",
        ErrorCode::FileQuotaExceeded => "the company's files have reached their storage limit",
        ErrorCode::PreAuthAlreadyRequested => "the supplier has already requested the advance",
        ErrorCode::PreAuthAlreadyClosed => "the pre-authorization is already closed",
        ErrorCode::RateLimited => "the request limit is reached",
        ErrorCode::InternalError => "the server failed",
        ErrorCode::NotFound => "the API has no such path",
        ErrorCode::MethodNotAllowed => "the path does not accept this method",
        ErrorCode::RequestTimeout => "the request did not arrive in time",
        ErrorCode::PayloadTooLarge => "the request is above 256 KiB (a batch, 1 MiB)",
        ErrorCode::ServiceUnavailable => "the service is unavailable for the moment",
        ErrorCode::IdempotencyKeyInvalid => {
            "an idempotency key has 8 to 100 letters, digits, dots, underscores, colons and hyphens"
        }
        ErrorCode::IdempotencyKeyReused => {
            "the idempotency key was already used with other content"
        }
        ErrorCode::IdempotencyInProgress => {
            "an earlier request with this idempotency key is still being processed"
        }
        ErrorCode::EventCursorExpired => {
            "events after the cursor are not kept any more, or it is of a lost history"
        }
        ErrorCode::ResourceNotFound => "there is no such record",
        ErrorCode::ResourceConflict => "the record exists already, or conflicts with another",
        ErrorCode::ResponsibleUserRefused => {
            "the responsible user is inactive, of another company, or lacks a permission"
        }
        ErrorCode::EndpointNotHeadOffice => "webhook endpoints belong to head offices",
        ErrorCode::SupplierNotRegistered => "the supplier is not registered on the platform",
        ErrorCode::EndpointUrlRefused => "webhooks are not sent to this URL",
        ErrorCode::PlatformTokenInvalid => "the operator token is missing or invalid",
        ErrorCode::OperatorForbidden => "the operator's role does not permit this",
        ErrorCode::FourEyesRequired => "the operator who released the operation may not pay it",
    }
}
