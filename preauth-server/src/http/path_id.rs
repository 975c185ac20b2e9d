//! The `{id}` of a path.

use preauth_core::ErrorCode;
use preauth_core::value::{IntegerIdError, OperationId};
use salvo::http::Request;

use super::error::ApiError;
use super::problem::Defect;

/// The operation that a path names: 400 unless it is a whole number, 404 when no operation can
/// have that number.
pub fn operation(req: &Request) -> Result<OperationId, ApiError> {
    OperationId::parse(text(req)).map_err(|error| match error {
        IntegerIdError::NotAnInteger => ApiError::problem("id", Defect::NotNumeric),
        IntegerIdError::OutOfRange => ApiError::new(ErrorCode::AnticipationNotFound),
    })
}

/// A platform record that a path names: 404 when no record can have that id.
pub fn record<T, E>(
    req: &Request,
    parse: impl FnOnce(&str) -> Result<T, E>,
) -> Result<T, ApiError> {
    parse(text(req)).map_err(|_| ApiError::new(ErrorCode::ResourceNotFound))
}

fn text(req: &Request) -> &str {
    req.params()
        .get("id")
        .map(String::as_str)
        .unwrap_or_default()
}
