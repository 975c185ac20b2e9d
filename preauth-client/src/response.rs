//! The result of a successful call.

use std::fmt;
use std::ops::Deref;

use preauth_core::value::IdempotencyKey;

use crate::RateLimit;
use crate::answer_head::AnswerHead;

/// The value of an answer, with its status and headers. It dereferences to the value.
#[derive(Clone)]
pub struct Response<T> {
    value: T,
    raw: Vec<u8>,
    head: AnswerHead,
    attempts: u32,
    idempotency_key: Option<IdempotencyKey>,
}

impl<T> Response<T> {
    pub(crate) fn new(
        (head, value, raw): (AnswerHead, T, Vec<u8>),
        attempts: u32,
        idempotency_key: Option<IdempotencyKey>,
    ) -> Self {
        Self {
            value,
            raw,
            head,
            attempts,
            idempotency_key,
        }
    }

    pub(crate) const fn head(&self) -> &AnswerHead {
        &self.head
    }

    /// The value alone.
    #[must_use]
    pub fn into_value(self) -> T {
        self.value
    }

    /// The bytes that the value was read from, including fields that this version does not know.
    #[must_use]
    pub fn raw(&self) -> &[u8] {
        &self.raw
    }

    /// The HTTP status.
    #[must_use]
    pub fn status(&self) -> u16 {
        self.head.status.as_u16()
    }

    /// The id that the service gave this request.
    #[must_use]
    pub fn request_id(&self) -> Option<&str> {
        self.head.request_id.as_deref()
    }

    /// Whether this repeats the answer to an earlier create with the same key: nothing was created by the
    /// request that was answered, and the value is as it was then. The earlier one may be an attempt of this
    /// call whose answer was lost, if there were [several](Self::attempts).
    #[must_use]
    pub fn is_replayed(&self) -> bool {
        self.head.replayed
    }

    /// The state of the request limit, if the answer reported it.
    #[must_use]
    pub fn rate_limit(&self) -> Option<RateLimit> {
        self.head.rate_limit
    }

    /// Number of requests sent, the answered one included.
    #[must_use]
    pub fn attempts(&self) -> u32 {
        self.attempts
    }

    /// The key under which a create was sent; `None` for all other calls.
    #[must_use]
    pub fn idempotency_key(&self) -> Option<&IdempotencyKey> {
        self.idempotency_key.as_ref()
    }
}

impl<T> Deref for Response<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: fmt::Debug> fmt::Debug for Response<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Response")
            .field("value", &self.value)
            .field("raw", &format_args!("{} bytes", self.raw.len()))
            .field("status", &self.head.status.as_u16())
            .field("request_id", &self.head.request_id)
            .field("replayed", &self.head.replayed)
            .field("rate_limit", &self.head.rate_limit)
            .field("attempts", &self.attempts)
            .field("idempotency_key", &self.idempotency_key)
            .finish()
    }
}
