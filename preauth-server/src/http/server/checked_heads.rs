//! Reads a connection one head at a time: the HTTP library sees a head only after it has arrived
//! whole, in time, and was checked.
//!
//! The library reads ahead after a body, and its time limit for the next head also runs while a
//! connection is idle. Here the two limits are separate: the transport limits idle time, and the limit
//! of a head starts with its first byte.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

use crate::http::in_progress::InProgress;

use super::head::{BodyLength, Flaw, Head, end_of_head, read};
use super::registry::Place;

/// Maximum size of a request's head, request line included.
pub(super) const HEAD_LIMIT_BYTES: usize = 16 * 1024;
/// Maximum time from the first byte of a head to its last; for the first head, from the start of
/// the connection.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// Bytes read from the transport in one step while a head is awaited.
const PIECE_BYTES: usize = 4 * 1024;

/// The state shared by the two ends of the HTTP library: the transport before it, and the service
/// after it.
#[derive(Clone, Debug)]
pub(super) struct HeadChecks(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    /// The place of the connection.
    place: Place,
    exchange: Mutex<Exchange>,
}

#[derive(Debug, Default)]
struct Exchange {
    /// A head was passed on, and the service has not asked for its flaw yet.
    is_announced: bool,
    /// The flaw of that head.
    flaw: Option<Flaw>,
    /// No request is in progress.
    is_answered: bool,
    /// The library has taken the whole answer; the transport may not have sent it yet.
    is_body_taken: bool,
    /// Kept until the answer is sent.
    in_progress: Option<InProgress>,
}

impl HeadChecks {
    pub(super) fn new(place: Place) -> Self {
        Self(Arc::new(Shared {
            place,
            exchange: Mutex::default(),
        }))
    }

    pub(super) fn place(&self) -> &Place {
        &self.0.place
    }

    /// The flaw of the request that begins, if it has one.
    pub(super) fn begin(&self) -> Option<Flaw> {
        let mut exchange = self.lock();
        exchange.is_answered = false;
        exchange.is_body_taken = false;
        if std::mem::take(&mut exchange.is_announced) {
            exchange.flaw
        } else {
            Some(Flaw::Unseen)
        }
    }

    /// Keeps this until the answer is sent.
    pub(super) fn keep(&self, in_progress: Option<InProgress>) {
        self.lock().in_progress = in_progress;
    }

    /// The library has taken the whole answer.
    pub(super) fn body_taken(&self) {
        self.lock().is_body_taken = true;
    }

    /// The transport has sent everything that the library wrote.
    fn flushed(&self) {
        let mut exchange = self.lock();
        if std::mem::take(&mut exchange.is_body_taken) {
            exchange.in_progress = None;
            drop(exchange);
            self.0.place.end();
        }
    }

    /// The request in progress is answered.
    pub(super) fn end(&self) {
        self.lock().is_answered = true;
    }

    fn announce(&self, head: &Head<'_>) {
        let mut exchange = self.lock();
        exchange.is_answered = false;
        exchange.is_announced = true;
        exchange.flaw = head.flaw;
    }

    fn is_answered(&self) -> bool {
        self.lock().is_answered
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Exchange> {
        self.0
            .exchange
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// A transport that passes heads on only when they are complete.
pub(super) struct CheckedHeads<S> {
    transport: S,
    checks: HeadChecks,
    phase: Phase,
    /// The bytes read and not passed on.
    buffer: Vec<u8>,
    /// The number of them searched for the end of a head.
    searched: usize,
    /// The number of them that may be passed on.
    released: usize,
    deadline: Option<Pin<Box<Sleep>>>,
}

/// The part of the stream that follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The first head.
    FirstHead,
    /// Another head.
    Head,
    /// The remaining bytes of a body, then a head.
    Body(u64),
    /// A body that only the library can measure; after its answer, a head.
    ChunkedBody,
    /// Bytes that the library will refuse, or the end.
    Rest,
}

impl<S> CheckedHeads<S> {
    pub(super) fn new(transport: S, checks: HeadChecks) -> Self {
        Self {
            transport,
            checks,
            phase: Phase::FirstHead,
            buffer: Vec::new(),
            searched: 0,
            released: 0,
            deadline: None,
        }
    }

    /// Searches the buffer for a head; returns whether there is anything to pass on.
    fn release_head(&mut self) -> bool {
        let end = end_of_head(&self.buffer, self.searched);
        self.searched = self.buffer.len();
        match end.filter(|end| *end <= HEAD_LIMIT_BYTES) {
            Some(end) => {
                let head = read(self.buffer.get(..end).unwrap_or_default());
                self.checks.announce(&head);
                self.released = end;
                self.phase = match head.body {
                    BodyLength::Bytes(bytes) => Phase::Body(bytes),
                    BodyLength::Chunked => Phase::ChunkedBody,
                };
            }
            None if self.buffer.len() > HEAD_LIMIT_BYTES => {
                self.released = self.buffer.len();
                self.phase = Phase::Rest;
            }
            None => return false,
        }
        self.deadline = None;
        true
    }

    /// Passes on the released bytes, as far as there is room.
    fn hand_out(&mut self, out: &mut ReadBuf<'_>) {
        let count = self.released.min(out.remaining());
        out.put_slice(self.buffer.get(..count).unwrap_or_default());
        self.buffer.drain(..count);
        self.released = self.released.saturating_sub(count);
        self.searched = 0;
    }
}

impl<S: AsyncRead + Unpin> CheckedHeads<S> {
    /// Reads until there is a head; `false` at the end of the connection.
    fn poll_head(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<bool>> {
        if self.searched < self.buffer.len() && self.release_head() {
            return Poll::Ready(Ok(true));
        }
        loop {
            match self.poll_piece(cx) {
                Poll::Ready(read) => {
                    if read? == 0 {
                        // The library refuses the incomplete head.
                        self.released = self.buffer.len();
                        self.phase = Phase::Rest;
                        return Poll::Ready(Ok(self.released > 0));
                    }
                    if self.release_head() {
                        return Poll::Ready(Ok(true));
                    }
                }
                Poll::Pending => {
                    if self.phase == Phase::FirstHead || !self.buffer.is_empty() {
                        ready!(self.poll_deadline(cx));
                        let late = "the head was not there in time";
                        return Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, late)));
                    }
                    return Poll::Pending;
                }
            }
        }
    }

    fn poll_deadline(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let new = || Box::pin(sleep(HEAD_TIMEOUT));
        self.deadline.get_or_insert_with(new).as_mut().poll(cx)
    }

    /// Reads bytes into the buffer.
    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let before = self.buffer.len();
        self.buffer.resize(before.saturating_add(PIECE_BYTES), 0);
        let mut piece = ReadBuf::new(self.buffer.get_mut(before..).unwrap_or_default());
        let outcome = Pin::new(&mut self.transport).poll_read(cx, &mut piece);
        let read = piece.filled().len();
        self.buffer.truncate(before.saturating_add(read));
        outcome.map_ok(|()| read)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for CheckedHeads<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        loop {
            if this.released > 0 {
                this.hand_out(out);
                return Poll::Ready(Ok(()));
            }
            match this.phase {
                Phase::FirstHead | Phase::Head => {
                    if !ready!(this.poll_head(cx))? {
                        return Poll::Ready(Ok(()));
                    }
                }
                Phase::Body(0) => this.phase = Phase::Head,
                Phase::ChunkedBody if this.checks.is_answered() => this.phase = Phase::Head,
                Phase::Body(left) if !this.buffer.is_empty() => {
                    let here = u64::try_from(this.buffer.len())
                        .unwrap_or(u64::MAX)
                        .min(left);
                    this.released = usize::try_from(here).unwrap_or(usize::MAX);
                    this.phase = Phase::Body(left.saturating_sub(here));
                }
                Phase::ChunkedBody | Phase::Rest if !this.buffer.is_empty() => {
                    this.released = this.buffer.len();
                }
                Phase::Body(left) => {
                    let room = usize::try_from(left)
                        .unwrap_or(usize::MAX)
                        .min(out.remaining());
                    let mut part = ReadBuf::new(out.initialize_unfilled_to(room));
                    ready!(Pin::new(&mut this.transport).poll_read(cx, &mut part))?;
                    let read = part.filled().len();
                    out.advance(read);
                    let read = u64::try_from(read).unwrap_or(u64::MAX);
                    this.phase = Phase::Body(left.saturating_sub(read));
                    return Poll::Ready(Ok(()));
                }
                Phase::ChunkedBody | Phase::Rest => {
                    return Pin::new(&mut this.transport).poll_read(cx, out);
                }
            }
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for CheckedHeads<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().transport).poll_write(cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let flushed = ready!(Pin::new(&mut this.transport).poll_flush(cx));
        this.checks.flushed();
        Poll::Ready(flushed)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().transport).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().transport).poll_write_vectored(cx, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.transport.is_write_vectored()
    }
}
