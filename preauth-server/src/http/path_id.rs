//! Parameters of a path: an `{id}`, a `{cnpj}`.

use preauth_core::ErrorCode;
use preauth_core::value::{Cnpj, IntegerIdError, OperationId};
use salvo::http::Request;

use super::error::ApiError;
use super::problem::Defect;

/// The operation that a path names: 400 unless it is a whole number, 404 when no operation can
/// have that number.
pub(super) fn operation(req: &Request) -> Result<OperationId, ApiError> {
    integer(req, OperationId::parse, ErrorCode::AnticipationNotFound)
}

/// A numbered record of the platform that a path names: 400 unless it is a whole number, 404 when no
/// record can have that number.
pub(super) fn number<T>(
    req: &Request,
    parse: impl FnOnce(&str) -> Result<T, IntegerIdError>,
) -> Result<T, ApiError> {
    integer(req, parse, ErrorCode::ResourceNotFound)
}

/// A platform record that a path names: 404 when no record can have that id.
pub(super) fn record<T, E>(
    req: &Request,
    parse: impl FnOnce(&str) -> Result<T, E>,
) -> Result<T, ApiError> {
    parse(text(req, "id")).map_err(|_| ApiError::new(ErrorCode::ResourceNotFound))
}

/// The tax id that a path names as `{cnpj}`, with or without mask.
pub(super) fn cnpj(req: &Request) -> Result<Cnpj, ApiError> {
    Cnpj::parse(text(req, "cnpj")).map_err(|error| ApiError::problem("cnpj", error.into()))
}

fn integer<T>(
    req: &Request,
    parse: impl FnOnce(&str) -> Result<T, IntegerIdError>,
    not_found: ErrorCode,
) -> Result<T, ApiError> {
    parse(text(req, "id")).map_err(|error| match error {
        IntegerIdError::NotAnInteger => ApiError::problem("id", Defect::NotNumeric),
        IntegerIdError::OutOfRange => ApiError::new(not_found),
    })
}

fn text<'a>(req: &'a Request, name: &str) -> &'a str {
    req.params()
        .get(name)
        .map(String::as_str)
        .unwrap_or_default()
}
