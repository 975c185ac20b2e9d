//! The request of one call, rebuilt for each attempt.

use bytes::Bytes;
use preauth_core::value::{IdempotencyKey, OperationId};
use preauth_core::wire::header;
use reqwest::header::{CONTENT_TYPE, HeaderValue};
use reqwest::{Method, Request, Url};

use super::Payload;
use crate::{Call, Error, ErrorKind};

/// A request that can be made again for each attempt.
#[derive(Debug)]
pub(crate) struct Task {
    pub(crate) call: Call,
    pub(crate) url: Url,
    pub(crate) payload: Payload,
    pub(crate) key: Option<IdempotencyKey>,
    /// The operation that the path names.
    pub(crate) operation: Option<OperationId>,
    key_header: Option<HeaderValue>,
}

impl Task {
    /// A request without a body.
    pub(crate) fn new(call: Call, url: Url) -> Self {
        Self {
            call,
            url,
            payload: Payload::Empty,
            key: None,
            operation: None,
            key_header: None,
        }
    }

    /// A request without a body about one operation, which its errors name.
    pub(crate) fn about(call: Call, operation: OperationId, url: Url) -> Self {
        Self {
            operation: Some(operation),
            ..Self::new(call, url)
        }
    }

    /// A request with a JSON body, which may be repeated.
    pub(crate) fn post(call: Call, url: Url, json: Bytes) -> Self {
        Self {
            payload: Payload::Json(json),
            ..Self::new(call, url)
        }
    }

    /// A create: a body under an idempotency key.
    pub(crate) fn create(url: Url, payload: Payload, key: IdempotencyKey) -> Result<Self, Error> {
        let header = HeaderValue::from_str(key.as_str())
            .map_err(|cause| Error::new(ErrorKind::Config).caused_by(cause))?;
        Ok(Self {
            payload,
            key: Some(key),
            key_header: Some(header),
            ..Self::new(Call::Create, url)
        })
    }

    /// The request of the next attempt; `None` when its body was consumed.
    pub(crate) fn request(&self) -> Option<Request> {
        if !self.payload.is_whole() {
            return None;
        }
        let method = match self.call {
            Call::Get | Call::List | Call::Events => Method::GET,
            Call::Create | Call::CreateMany | Call::Validate | Call::Cancel => Method::POST,
        };
        let mut request = Request::new(method, self.url.clone());
        if let Some((content_type, body)) = self.payload.body() {
            request.headers_mut().insert(CONTENT_TYPE, content_type);
            *request.body_mut() = Some(body);
        }
        if let Some(key) = &self.key_header {
            request
                .headers_mut()
                .insert(header::IDEMPOTENCY_KEY, key.clone());
        }
        Some(request)
    }
}
