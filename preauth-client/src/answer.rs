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
        }
    }
}

impl Answer {
    /// The value of a success, with the bytes it was read from; everything else is an error.
    pub(crate) fn judge<T: DeserializeOwned>(self) -> Result<(AnswerHead, T, Vec<u8>), Error> {
        let Self { head, body } = self;
        if !head.status.is_success() {
            return Err(Error::refused(head, body));
        }
        let Some(body) = body else {
            return Err(Error::answered(ErrorKind::AnswerTooLarge, head));
        };
        match from_json(&body) {
            Ok(value) => Ok((head, value, body)),
            Err(cause) => Err(Error::answered(ErrorKind::UnreadableSuccess, head)
                .with_raw(body)
                .caused_by(cause)),
        }
    }
}

/// A header of whole seconds, the only form the contract has; a date is not understood.
pub(crate) fn seconds(headers: &HeaderMap, name: &str) -> Option<Duration> {
    number(headers, name).map(Duration::from_secs)
}

pub(crate) fn number(headers: &HeaderMap, name: &str) -> Option<u64> {
    headers.get(name)?.to_str().ok()?.trim().parse().ok()
}
