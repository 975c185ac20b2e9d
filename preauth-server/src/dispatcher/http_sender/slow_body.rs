//! A body in pieces with a pause before each, as over a slow network: to try how a receiver bears
//! it.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::body::{Body, Bytes, Frame, SizeHint};
use tokio::time::{Sleep, sleep};

/// Number of pieces.
const PIECES: usize = 8;

/// A body that is sent slowly; its length is declared like that of any other.
pub(super) struct SlowBody {
    rest: Bytes,
    piece_bytes: usize,
    pause: Duration,
    /// The pause in progress.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl SlowBody {
    pub(super) fn new(bytes: Bytes, pause: Duration) -> Self {
        Self {
            piece_bytes: bytes.len().div_ceil(PIECES),
            rest: bytes,
            pause,
            waiting: None,
        }
    }
}

/// A copy begins with a pause of its own.
impl Clone for SlowBody {
    fn clone(&self) -> Self {
        Self {
            rest: self.rest.clone(),
            piece_bytes: self.piece_bytes,
            pause: self.pause,
            waiting: None,
        }
    }
}

impl Body for SlowBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.rest.is_empty() {
            return Poll::Ready(None);
        }
        let pause = self.pause;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep(pause)));
        ready!(waiting.as_mut().poll(cx));
        self.waiting = None;
        let size = self.piece_bytes.min(self.rest.len());
        Poll::Ready(Some(Ok(Frame::data(self.rest.split_to(size)))))
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
        for (bytes, pieces) in [(100, 8), (3, 3), (0, 0)] {
            let sent = Bytes::from(vec![b'x'; bytes]);
            let mut body = SlowBody::new(sent.clone(), Duration::from_secs(1)).clone();
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
