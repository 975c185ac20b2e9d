//! Status and headers of an answer.

use std::time::Duration;

use preauth_core::wire::header;
use reqwest::StatusCode;
use reqwest::header::HeaderMap;

use crate::RateLimit;
use crate::rate_limit::seconds;

/// The status and the headers that the client reads.
#[derive(Clone, Debug)]
pub(crate) struct AnswerHead {
    pub(crate) status: StatusCode,
    pub(crate) request_id: Option<String>,
    pub(crate) replayed: bool,
    pub(crate) rate_limit: Option<RateLimit>,
    pub(crate) retry_after: Option<Duration>,
    /// Whether the `Content-Type` is not JSON. The service always answers in JSON, so it did not answer.
    pub(crate) is_foreign: bool,
}

impl AnswerHead {
    pub(crate) fn read(status: StatusCode, headers: &HeaderMap) -> Self {
        let text = |name: &str| headers.get(name)?.to_str().ok();
        let replayed = text(header::IDEMPOTENCY_REPLAYED);
        Self {
            status,
            request_id: text(header::REQUEST_ID).map(str::to_owned),
            replayed: replayed == Some(header::IDEMPOTENCY_REPLAYED_TRUE),
            rate_limit: RateLimit::read(headers),
            retry_after: seconds(headers, header::RETRY_AFTER),
            is_foreign: text("content-type").is_some_and(|media_type| !is_json(media_type)),
        }
    }
}

/// Whether a media type is JSON or ends in `+json`.
fn is_json(media_type: &str) -> bool {
    let essence = media_type.split(';').next().unwrap_or_default();
    let subtype = essence.rsplit(['/', '+']).next().unwrap_or_default();
    subtype.trim().eq_ignore_ascii_case("json")
}
