//! `?ifVersion=`: who acts on a record binds the action to the version that they have seen.

use preauth_core::ErrorCode;
use preauth_core::value::Version;
use salvo::http::Request;

use crate::http::error::ApiError;
use crate::http::fields::Problems;
use crate::http::openapi::described::Described;
use crate::http::openapi::document::Parameter;
use crate::http::openapi::schema::Schema;
use crate::http::query::Query;

/// Its name in queries.
pub(crate) const IF_VERSION: &str = "ifVersion";

/// Describes it for an action.
pub(super) fn described(operation: Described) -> Described {
    let version = Schema::integer(
        "Only if the operation, or the payment order, is in this version, the one that was seen: it was not changed since, nor the amount to be \
         paid. Otherwise 409 `RESOURCE_CONFLICT`, and nothing is done.",
        4,
    );
    operation
        .parameter(Parameter::query(IF_VERSION, version.at_least(1)))
        .refuses(&[ErrorCode::ResourceConflict])
}

/// The version that the caller of an action has seen, if they say so. Any other parameter is refused: it could be a
/// misspelt one, which would bind nothing.
pub(super) fn seen(req: &Request) -> Result<Option<Version>, ApiError> {
    let (query, mut problems) = (Query::parse(req.uri().query()), Problems::default());
    query.refuse_others(IF_VERSION, &mut problems);
    let number = query.whole(IF_VERSION, 1, i64::MAX.unsigned_abs(), &mut problems);
    let seen = number.and_then(|number| Version::new(number.try_into().ok()?));
    Ok(problems.unless_any(Some(seen))?)
}
