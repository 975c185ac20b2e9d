//! The codes by which callers distinguish refusals.

use crate::value::text_enum::text_enum;

text_enum! {
    /// The `code` of an error answer, on which callers branch.
    /// [Contract, "Errors"](https://example.com/preauth/blob/main/docs/reference.md#errors).
    ///
    /// The set is closed here, because the service knows every code it sends; clients must tolerate
    /// unknown codes. The HTTP layer maps each code to a status.
    #[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
    pub enum ErrorCode, "error code" {
        /// A field of the body or query is missing or malformed; one item per problem.
        ValidationError => "VALIDATION_ERROR",
        /// The body as a whole cannot be read: broken multipart, unexpected file, other media type.
        BadRequest => "BAD_REQUEST",
        /// No API key, or one that was never issued.
        ApiKeyInvalid => "API_KEY_INVALID",
        /// The API key was revoked.
        ApiKeyRevoked => "API_KEY_REVOKED",
        /// The API key has expired.
        ApiKeyExpired => "API_KEY_EXPIRED",
        /// The API key lacks the scope of the operation.
        IntegrationScopeForbidden => "INTEGRATION_SCOPE_FORBIDDEN",
        /// The key's responsible user lacks a permission.
        IntegrationResponsibleForbidden => "INTEGRATION_RESPONSIBLE_FORBIDDEN",
        /// The key's responsible user is deactivated or no longer belongs to the company.
        RbacForbidden => "RBAC_FORBIDDEN",
        /// Only the head office of a construction company may create pre-authorizations.
        PreAuthOnlyConstrutora => "PRE_AUTH_ONLY_CONSTRUTORA",
        /// The operation does not exist, or is not the caller's.
        AnticipationNotFound => "ANTICIPATION_NOT_FOUND",
        /// Another operation in progress holds the same invoice of the same supplier.
        PreAuthDuplicateInvoice => "PRE_AUTH_DUPLICATE_INVOICE",
        /// The operation is not, or no longer, in a state that allows this.
        AnticipationInvalidTransition => "ANTICIPATION_INVALID_TRANSITION",
        /// The invoice file is larger than 10 MB.
        FileTooLarge => "FILE_TOO_LARGE",
        /// The due date is less than 5 days ahead.
        AnticipationInvalidDueDate => "ANTICIPATION_INVALID_DUE_DATE",
        /// The due date is more than 180 days ahead.
        AnticipationDueDateTooFar => "ANTICIPATION_DUE_DATE_TOO_FAR",
        /// The due date is beyond the maximum term of the company's credit limit.
        CreditAnalysisDueDateExceeded => "CREDIT_ANALYSIS_DUE_DATE_EXCEEDED",
        /// The amount is above what the company's credit limit allows.
        CreditAnalysisInvoiceAmountExceeded => "CREDIT_ANALYSIS_INVOICE_AMOUNT_EXCEEDED",
        /// The supplier is new, and its name or contact was not sent.
        PreAuthSupplierNameRequired => "PRE_AUTH_SUPPLIER_NAME_REQUIRED",
        /// The supplier is the caller's company or one of its branches.
        PreAuthSupplierSelf => "PRE_AUTH_SUPPLIER_SELF",
        /// The supplier is on the company's block list.
        PreAuthSupplierBlocked => "PRE_AUTH_SUPPLIER_BLOCKED",
        /// The content of the file is neither PDF nor XML, or does not match the declared type.
        InvalidFileType => "INVALID_FILE_TYPE",
        /// The declared type of the file is neither PDF nor XML.
        InvoiceFileType => "INVOICE_FILE_TYPE",
        /// The name of the file has more than 255 characters.
        InvoiceFileNameTooLong => "INVOICE_FILE_NAME_TOO_LONG",
        /// Too late to cancel: the supplier already requested the advance.
        PreAuthAlreadyRequested => "PRE_AUTH_ALREADY_REQUESTED",
        /// Too late to cancel: the operation was closed, and not through the integration.
        PreAuthAlreadyClosed => "PRE_AUTH_ALREADY_CLOSED",
        /// The request limit of the window is reached.
        RateLimited => "RATE_LIMITED",
        /// An internal failure, or an outcome that stays unknown.
        InternalError => "INTERNAL_ERROR",

        /// Ours: the path does not exist.
        NotFound => "NOT_FOUND",
        /// Ours: the path exists, but not with this method.
        MethodNotAllowed => "METHOD_NOT_ALLOWED",
        /// Ours: the request did not arrive in time.
        RequestTimeout => "REQUEST_TIMEOUT",
        /// Ours: the JSON or the text parts are too large.
        PayloadTooLarge => "PAYLOAD_TOO_LARGE",
        /// Ours: the files of the company's operations have reached their storage quota.
        FileQuotaExceeded => "FILE_QUOTA_EXCEEDED",
        /// Ours: nothing was done; try again later.
        ServiceUnavailable => "SERVICE_UNAVAILABLE",
        /// Ours: the `Idempotency-Key` is not 8 to 100 allowed characters.
        IdempotencyKeyInvalid => "IDEMPOTENCY_KEY_INVALID",
        /// Ours: the `Idempotency-Key` was used with another body; retrying cannot help.
        IdempotencyKeyReused => "IDEMPOTENCY_KEY_REUSED",
        /// Ours: the first request with this `Idempotency-Key` is still being processed.
        IdempotencyInProgress => "IDEMPOTENCY_IN_PROGRESS",
        /// Ours: an event after the cursor is not kept any more, or the cursor is of another history.
        EventCursorExpired => "EVENT_CURSOR_EXPIRED",
        /// Ours, platform API: the record does not exist.
        ResourceNotFound => "RESOURCE_NOT_FOUND",
        /// Ours, platform API: the record already exists, or prevents the change.
        ResourceConflict => "RESOURCE_CONFLICT",
        /// Ours, platform API: the user chosen for a key lacks a permission.
        ResponsibleUserRefused => "RESPONSIBLE_USER_REFUSED",
        /// Ours, platform API: webhook endpoints belong to head offices.
        EndpointNotHeadOffice => "ENDPOINT_NOT_HEAD_OFFICE",
        /// Ours, platform API: the company is a supplier that was invited and is not registered.
        SupplierNotRegistered => "SUPPLIER_NOT_REGISTERED",
        /// Ours, platform API: webhooks are not sent to this kind of address.
        EndpointUrlRefused => "ENDPOINT_URL_REFUSED",
        /// Ours, platform API: the operator token is missing or wrong.
        PlatformTokenInvalid => "PLATFORM_TOKEN_INVALID",
        /// Ours, platform API: the operator's role does not permit this.
        OperatorForbidden => "OPERATOR_FORBIDDEN",
        /// Ours, platform API: another operator than the one who released the operation must pay it.
        FourEyesRequired => "FOUR_EYES_REQUIRED",
    }
}

impl ErrorCode {
    /// Whether the contract's error table names this code; the others are ours, for errors that have no
    /// code in the contract.
    #[must_use]
    pub const fn is_of_contract(self) -> bool {
        match self {
            Self::ValidationError
            | Self::BadRequest
            | Self::ApiKeyInvalid
            | Self::ApiKeyRevoked
            | Self::ApiKeyExpired
            | Self::IntegrationScopeForbidden
            | Self::IntegrationResponsibleForbidden
            | Self::RbacForbidden
            | Self::PreAuthOnlyConstrutora
            | Self::AnticipationNotFound
            | Self::PreAuthDuplicateInvoice
            | Self::AnticipationInvalidTransition
            | Self::FileTooLarge
            | Self::AnticipationInvalidDueDate
            | Self::AnticipationDueDateTooFar
            | Self::CreditAnalysisDueDateExceeded
            | Self::CreditAnalysisInvoiceAmountExceeded
            | Self::PreAuthSupplierNameRequired
            | Self::PreAuthSupplierSelf
            | Self::PreAuthSupplierBlocked
            | Self::InvalidFileType
            | Self::InvoiceFileType
            | Self::InvoiceFileNameTooLong
            | Self::PreAuthAlreadyRequested
            | Self::PreAuthAlreadyClosed
            | Self::RateLimited
            | Self::InternalError => true,
            Self::NotFound
            | Self::MethodNotAllowed
            | Self::RequestTimeout
            | Self::PayloadTooLarge
            | Self::FileQuotaExceeded
            | Self::ServiceUnavailable
            | Self::IdempotencyKeyInvalid
            | Self::IdempotencyKeyReused
            | Self::IdempotencyInProgress
            | Self::EventCursorExpired
            | Self::ResourceNotFound
            | Self::ResourceConflict
            | Self::ResponsibleUserRefused
            | Self::EndpointNotHeadOffice
            | Self::SupplierNotRegistered
            | Self::EndpointUrlRefused
            | Self::PlatformTokenInvalid
            | Self::OperatorForbidden
            | Self::FourEyesRequired => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Contract: error-code/a-code-each version/v2
    #[test]
    fn the_contract_names_27_codes_and_we_add_19() {
        let ours = ErrorCode::ALL
            .iter()
            .filter(|code| !code.is_of_contract())
            .count();
        assert_eq!((ErrorCode::ALL.len(), ours), (46, 19));
    }
}
