//! The request body of a form.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_core::Stream;
use http_body::{Body, Frame, SizeHint};

use super::content::SharedStream;

/// The caller's stream failed.
#[derive(Debug, thiserror::Error)]
#[error("the stream of the file failed")]
pub(crate) struct UnreadableFile(#[source] io::Error);

/// The part of a form that is still to be sent.
pub(super) struct FormBody {
    before: VecDeque<Bytes>,
    stream: Streaming,
    after: Option<Bytes>,
}

enum Streaming {
    None,
    /// Taken only after everything before it is being sent, so that an attempt that fails earlier does
    /// not consume it.
    Untouched(SharedStream),
    /// The mutex is never locked: it makes the stream `Sync`, which a body must be.
    Under(Mutex<Pin<Box<dyn Stream<Item = io::Result<Bytes>> + Send>>>),
}

impl FormBody {
    pub(super) fn whole(chunks: [Bytes; 3]) -> Self {
        Self {
            before: chunks.into(),
            stream: Streaming::None,
            after: None,
        }
    }

    pub(super) fn streaming(before: Bytes, stream: SharedStream, after: Bytes) -> Self {
        Self {
            before: [before].into(),
            stream: Streaming::Untouched(stream),
            after: Some(after),
        }
    }
}

impl Body for FormBody {
    type Data = Bytes;
    type Error = UnreadableFile;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, UnreadableFile>>> {
        if let Some(chunk) = self.before.pop_front() {
            return Poll::Ready(Some(Ok(Frame::data(chunk))));
        }
        if let Streaming::Untouched(shared) = &self.stream {
            let Some(stream) = shared.take() else {
                let gone = io::Error::other("the stream has been read before");
                return Poll::Ready(Some(Err(UnreadableFile(gone))));
            };
            self.stream = Streaming::Under(Mutex::new(stream));
        }
        if let Streaming::Under(stream) = &mut self.stream {
            let stream = stream.get_mut().unwrap_or_else(PoisonError::into_inner);
            match stream.as_mut().poll_next(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Some(chunk)) => {
                    let frame = chunk.map(Frame::data).map_err(UnreadableFile);
                    return Poll::Ready(Some(frame));
                }
                Poll::Ready(None) => self.stream = Streaming::None,
            }
        }
        Poll::Ready(self.after.take().map(|chunk| Ok(Frame::data(chunk))))
    }

    fn is_end_stream(&self) -> bool {
        self.before.is_empty() && matches!(self.stream, Streaming::None) && self.after.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        if !matches!(self.stream, Streaming::None) {
            return SizeHint::default();
        }
        let chunks = self.before.iter().chain(&self.after);
        let length = chunks.fold(0, |sum: u64, chunk| {
            sum.saturating_add(u64::try_from(chunk.len()).unwrap_or(u64::MAX))
        });
        SizeHint::with_exact(length)
    }
}
