//! The body of a request: whole, or in pieces with a pause before each, as over a slow network.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::body::{Body, Bytes, Frame, SizeHint};
use tokio::time::{Sleep, sleep};

/// Number of pieces of a body that is sent slowly.
const PIECES: usize = 8;

/// A body to send.
pub(super) struct SentBody {
    rest: Bytes,
    piece_bytes: usize,
    /// The pause before each piece; `None` for a body that is sent at once.
    pause: Option<Duration>,
    waiting: Option<Pin<Box<Sleep>>>,
}

impl SentBody {
    pub(super) fn new(bytes: Bytes, pause: Option<Duration>) -> Self {
        let piece_bytes = match pause {
            Some(_) => bytes.len().div_ceil(PIECES),
            None => bytes.len(),
        };
        Self {
            rest: bytes,
            piece_bytes,
            pause,
            waiting: None,
        }
    }
}

impl Clone for SentBody {
    fn clone(&self) -> Self {
        Self {
            rest: self.rest.clone(),
            piece_bytes: self.piece_bytes,
            pause: self.pause,
            waiting: None,
        }
    }
}

impl Body for SentBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.rest.is_empty() {
            return Poll::Ready(None);
        }
        if let Some(pause) = self.pause {
            let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep(pause)));
            ready!(waiting.as_mut().poll(cx));
            self.waiting = None;
        }
        let size = self.piece_bytes.min(self.rest.len());
        let piece = self.rest.split_to(size);
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(u64::try_from(self.rest.len()).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_slow_body_is_the_same_bytes_in_pieces() {
        for (bytes, pause, pieces) in [
            (100, None, 1),
            (100, Some(Duration::from_secs(1)), 8),
            (3, Some(Duration::from_secs(1)), 3),
            (0, Some(Duration::from_secs(1)), 0),
        ] {
            let sent = Bytes::from(vec![b'x'; bytes]);
            let mut body = SentBody::new(sent.clone(), pause).clone();
            let mut received = Vec::new();
            let mut count = 0;
            while let Some(frame) = body.frame().await {
                received.extend(frame.unwrap().into_data().unwrap());
                count += 1;
            }
            assert_eq!((received, count), (sent.to_vec(), pieces));
        }
    }
}
