//! Names of the headers of the integration API, in lower case, as HTTP/2 sends them.

/// Request: the caller's identifier of one create.
/// [Contract, "POST /api/integration/v1/pre-authorizations"](https://example.com/preauth/blob/main/docs/reference.md#post-apiintegrationv1pre-authorizations).
pub const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// Answer to a create: [`IDEMPOTENCY_REPLAYED_TRUE`] when the original answer is repeated, and absent
/// otherwise.
pub const IDEMPOTENCY_REPLAYED: &str = "idempotency-replayed";

/// The only value of [`IDEMPOTENCY_REPLAYED`].
pub const IDEMPOTENCY_REPLAYED_TRUE: &str = "true";

/// Answer: requests allowed in a window.
/// [Contract, "Limits"](https://example.com/preauth/blob/main/docs/reference.md#limits).
pub const RATE_LIMIT_LIMIT: &str = "x-ratelimit-limit";

/// Answer: requests left in this window.
/// [Contract, "Limits"](https://example.com/preauth/blob/main/docs/reference.md#limits).
pub const RATE_LIMIT_REMAINING: &str = "x-ratelimit-remaining";

/// Answer: seconds until the next window begins; a duration, not a point in time.
/// [Contract, "Limits"](https://example.com/preauth/blob/main/docs/reference.md#limits).
pub const RATE_LIMIT_RESET: &str = "x-ratelimit-reset";

/// Answer: whole seconds to wait before the next attempt.
/// [Contract, "Errors"](https://example.com/preauth/blob/main/docs/reference.md#errors)
/// (`RATE_LIMITED`).
pub const RETRY_AFTER: &str = "retry-after";

/// Answer: the service's id of this request. Ours, on every answer.
pub const REQUEST_ID: &str = "x-request-id";
