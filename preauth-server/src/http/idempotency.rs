//! The header that makes a repeated create the same create, on both listeners.

use preauth_core::ErrorCode;
use preauth_core::value::IdempotencyKey;
use preauth_core::wire::header;
use salvo::http::Request;

use super::error::ApiError;
use super::reply::Reply;

/// The caller's key, if one was sent; empty, malformed and repeated ones are refused.
pub(super) fn key(req: &Request) -> Result<Option<IdempotencyKey>, ApiError> {
    let invalid = || ApiError::new(ErrorCode::IdempotencyKeyInvalid);
    let mut headers = req.headers().get_all(header::IDEMPOTENCY_KEY).iter();
    let Some(only) = headers.next() else {
        return Ok(None);
    };
    if headers.next().is_some() {
        return Err(invalid());
    }
    let text = only.to_str().map_err(|_| invalid())?;
    IdempotencyKey::parse(text).map(Some).map_err(|_| invalid())
}

/// The answer that was given before, marked as such.
pub(super) fn replayed(reply: Reply) -> Reply {
    reply.header(
        header::IDEMPOTENCY_REPLAYED,
        header::IDEMPOTENCY_REPLAYED_TRUE,
    )
}
