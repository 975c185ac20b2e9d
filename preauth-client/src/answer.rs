//! What came back, before anybody knows what it means.

use std::time::Duration;

use preauth_core::wire::{from_json, header};
use reqwest::StatusCode;
use reqwest::header::HeaderMap;
use serde::de::DeserializeOwned;

use crate::{Error, ErrorKind, RateLimit};

/// An answer, read to its end or to the limit.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) head: AnswerHead,
    /// `None` when it is longer than accepted.
    pub(crate) body: Option<Vec<u8>>,
}

/// What the head of an answer says.
#[derive(Clone, Debug)]
pub(crate) struct AnswerHead {
    pub(crate) status: StatusCode,
    pub(crate) request_id: Option<String>,
    pub(crate) replayed: bool,
    pub(crate) rate_limit: Option<RateLimit>,
    pub(crate) retry_after: Option<Duration>,
    /// Whether the body is called something else than JSON, which nothing of the service is.
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

impl Answer {
    /// The value of a success, with the bytes it was read from; everything else is an error.
    pub(crate) fn read<T: DeserializeOwned>(self) -> Result<(AnswerHead, T, Vec<u8>), Error> {
        let Self { head, body } = self;
        if !head.status.is_success() {
            return Err(Error::refused(head, body));
        }
        // A proxy's page of log-in comes with 200, too, and means that nothing was done.
        let is_foreign = head.is_foreign;
        let otherwise = |kind| {
            if is_foreign {
                ErrorKind::UnexpectedAnswer
            } else {
                kind
            }
        };
        let Some(body) = body else {
            return Err(Error::answered(otherwise(ErrorKind::AnswerTooLarge), head));
        };
        match from_json(&body) {
            Ok(value) => Ok((head, value, body)),
            Err(cause) => {
                let kind = otherwise(ErrorKind::UnreadableSuccess);
                let error = Error::answered(kind, head).with_raw(body);
                Err(error.caused_by(cause))
            }
        }
    }
}

/// Whether a media type is JSON's, or of a format that is written in it.
fn is_json(media_type: &str) -> bool {
    let essence = media_type.split(';').next().unwrap_or_default();
    let subtype = essence.rsplit(['/', '+']).next().unwrap_or_default();
    subtype.trim().eq_ignore_ascii_case("json")
}

/// A header of whole seconds, the only form the contract has; a date is not understood.
pub(crate) fn seconds(headers: &HeaderMap, name: &str) -> Option<Duration> {
    number(headers, name).map(Duration::from_secs)
}

pub(crate) fn number(headers: &HeaderMap, name: &str) -> Option<u64> {
    headers.get(name)?.to_str().ok()?.trim().parse().ok()
}
