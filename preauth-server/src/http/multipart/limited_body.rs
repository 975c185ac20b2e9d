//! A body with a maximum size.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::Stream;
use thiserror::Error;

/// A stream of bytes that returns an error once it exceeds its limit.
#[derive(Debug)]
pub(super) struct LimitedBody<S> {
    stream: S,
    left: u64,
}

/// Why a body ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(super) enum BodyError {
    #[error("the body is larger than its limit")]
    TooLarge,
    #[error("the body was interrupted")]
    Interrupted,
}

impl<S> LimitedBody<S> {
    pub(super) const fn new(stream: S, limit_bytes: u64) -> Self {
        Self {
            stream,
            left: limit_bytes,
        }
    }
}

impl<S, E> Stream for LimitedBody<S>
where
    S: Stream<Item = Result<Bytes, E>> + Unpin,
{
    type Item = Result<Bytes, BodyError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = Pin::new(&mut self.stream).poll_next(context);
        next.map(|item| match item? {
            Ok(bytes) => {
                let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
                match self.left.checked_sub(length) {
                    Some(left) => {
                        self.left = left;
                        Some(Ok(bytes))
                    }
                    None => Some(Err(BodyError::TooLarge)),
                }
            }
            Err(_) => Some(Err(BodyError::Interrupted)),
        })
    }
}
