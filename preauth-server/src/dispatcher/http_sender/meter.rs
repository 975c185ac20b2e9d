//! Limits the bytes that a receiver may send for one request.
//!
//! The limits of an answer's head and body leave a gap: any number of interim answers (103 Early
//! Hints) is skipped, and so are the bytes between the chunks of a body. Here the bytes are counted
//! as they are read from the network.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Maximum number of bytes read for one request, handshake included: enough for a head of 64 KiB,
/// the limit of a body, read-ahead, and a long chain of certificates.
const BUDGET_BYTES: usize = 256 * 1024;

/// The receiver exceeded the limit.
#[derive(Clone, Copy, Debug, Error)]
#[error("receiver sent too many bytes")]
pub(super) struct TooMuch;

/// The bytes that a connection may still read.
#[derive(Clone)]
pub(super) struct Meter(Arc<AtomicUsize>);

impl Meter {
    pub(super) fn new() -> Self {
        Self(Arc::new(AtomicUsize::new(BUDGET_BYTES)))
    }

    /// Resets the budget for the next request.
    pub(super) fn reset(&self) {
        self.0.store(BUDGET_BYTES, Ordering::Relaxed);
    }
}

/// A stream that fails once its meter is exhausted.
pub(super) struct Metered<S> {
    stream: S,
    meter: Meter,
}

impl<S> Metered<S> {
    pub(super) const fn new(stream: S, meter: Meter) -> Self {
        Self { stream, meter }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Metered<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let left = self.meter.0.load(Ordering::Relaxed);
        if left == 0 {
            return Poll::Ready(Err(io::Error::other(TooMuch)));
        }
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buf))?;
        let read = buf.filled().len().saturating_sub(before);
        // Only this connection's task reads, and resets happen only between two requests.
        let left = left.saturating_sub(read);
        self.meter.0.store(left, Ordering::Relaxed);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Metered<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, repeat};

    use super::{BUDGET_BYTES, Meter, Metered, TooMuch};

    #[tokio::test]
    async fn a_stream_without_an_end_fails_and_not_before_its_budget_is_used() {
        let meter = Meter::new();
        let mut stream = Metered::new(repeat(b'x'), meter.clone());
        for _ in 0..2 {
            let mut read = Vec::new();
            let error = stream.read_to_end(&mut read).await.unwrap_err();
            assert!(error.get_ref().unwrap().is::<TooMuch>(), "{error}");
            assert!((BUDGET_BYTES..2 * BUDGET_BYTES).contains(&read.len()));
            meter.reset();
        }
    }
}
