//! The header that makes creates idempotent, on both listeners.

use preauth_core::ErrorCode;
use preauth_core::value::IdempotencyKey;
use preauth_core::wire::header;
use salvo::http::Request;

use super::error::ApiError;
use super::reply::Reply;

/// The caller's key, if there is one; empty, malformed and repeated keys are refused.
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

/// The stored answer, marked as a replay.
pub(super) fn replayed(reply: Reply) -> Reply {
    reply.header(
        header::IDEMPOTENCY_REPLAYED,
        header::IDEMPOTENCY_REPLAYED_TRUE,
    )
}
