//! The headers of answers.

use preauth_core::ErrorCode;

use super::document::{Header, Ref};
use super::listed::Listed;
use super::schema::Schema;

pub(in crate::http) const REQUEST_ID: &str = "X-Request-Id";
pub(in crate::http) const REPLAYED: &str = "Idempotency-Replayed";
pub(in crate::http) const CACHE_CONTROL: &str = "Cache-Control";
const RETRY_AFTER: &str = "Retry-After";
const AUTHENTICATE: &str = "WWW-Authenticate";
const LIMIT: &str = "X-RateLimit-Limit";
const REMAINING: &str = "X-RateLimit-Remaining";
const RESET: &str = "X-RateLimit-Reset";
const STANDARD_LIMIT: &str = "RateLimit";
const STANDARD_POLICY: &str = "RateLimit-Policy";

/// The headers of a key's rate window; on every answer to a valid key.
pub(in crate::http) const WINDOW: [&str; 5] =
    [LIMIT, REMAINING, RESET, STANDARD_LIMIT, STANDARD_POLICY];

/// References to these headers.
pub(in crate::http) fn of<'a>(names: impl IntoIterator<Item = &'a &'a str>) -> Listed<Ref> {
    let names = names.into_iter();
    names.map(|name| (*name, Ref::header(name))).collect()
}

/// The additional header of a refusal with one of these codes.
pub(in crate::http) fn of_refusal(codes: &[ErrorCode]) -> Option<&'static str> {
    codes.iter().find_map(|code| match code {
        ErrorCode::RateLimited
        | ErrorCode::ServiceUnavailable
        | ErrorCode::IdempotencyInProgress => Some(RETRY_AFTER),
        ErrorCode::ApiKeyInvalid | ErrorCode::PlatformTokenInvalid => Some(AUTHENTICATE),
        _ => None,
    })
}

/// The headers of both APIs.
pub(in crate::http) fn common() -> Vec<(&'static str, Header)> {
    vec![
        (
            REQUEST_ID,
            Header::new(
                "The id under which the service's log knows this request.",
                Schema::uuid(""),
            ),
        ),
        (
            RETRY_AFTER,
            Header::new(
                "Whole seconds after which the request may be sent again.",
                Schema::integer("", 1),
            ),
        ),
        (
            AUTHENTICATE,
            Header::new("How to authenticate.", Schema::text("", "Bearer")),
        ),
    ]
}

/// The headers of the platform API alone.
pub(in crate::http) fn of_platform() -> Vec<(&'static str, Header)> {
    let description = "The answer holds a secret that is shown once: keep no copy of it.";
    let header = Header::new(description, Schema::text("", "no-store"));
    vec![(CACHE_CONTROL, header), (REPLAYED, replayed())]
}

/// The headers of the integration API alone.
pub(in crate::http) fn of_integration() -> Vec<(&'static str, Header)> {
    let number = |description, example| Header::new(description, Schema::integer("", example));
    let text = |description, example| Header::new(description, Schema::text("", example));
    vec![
        (LIMIT, number("Requests that a key has in a window.", 120)),
        (REMAINING, number("Requests left in this window.", 119)),
        (
            RESET,
            number("Seconds until the window begins anew; not a moment.", 60),
        ),
        (
            STANDARD_LIMIT,
            text(
                "The same as a structured field: requests left, seconds until the window begins anew.",
                "\"default\";r=119;t=60",
            ),
        ),
        (
            STANDARD_POLICY,
            text(
                "The same as a structured field: requests in a window, seconds of a window.",
                "\"default\";q=120;w=60",
            ),
        ),
        (REPLAYED, replayed()),
    ]
}

fn replayed() -> Header {
    Header::new(
        "`true` when this is the original answer to the same Idempotency-Key; absent otherwise.",
        Schema::text("", "true"),
    )
}
