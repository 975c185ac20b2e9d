//! A connection to a receiver: one exchange at a time.

use std::error::Error;
use std::io;
use std::net::IpAddr;
use std::time::Duration;

use chrono::TimeDelta;
use hyper::Response;
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use preauth_core::port::AttemptError;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::AbortHandle;
use tokio::time::timeout;

use crate::clock::Stopwatch;

use super::meter::{Meter, TooMuch};
use super::request::{Message, SentBody};

/// Maximum size of an answer's head; a longer one is an error.
const MAX_HEAD_BYTES: usize = 64 * 1024;

/// Maximum lifetime of a connection: the maximum age for reuse, and one more exchange.
const LIFETIME: Duration = Duration::from_mins(6);

/// An open connection; dropping it closes it, also during an exchange.
pub(super) struct Connection {
    sender: SendRequest<SentBody>,
    meter: Meter,
    peer: IpAddr,
    opened: Stopwatch,
    /// The task that reads and writes the connection.
    task: AbortHandle,
}

impl Connection {
    /// Starts HTTP/1.1 over `stream`, whose bytes `meter` counts.
    pub(super) async fn over<S>(stream: S, meter: Meter, peer: IpAddr) -> Result<Self, AttemptError>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let handshake = http1::Builder::new()
            .max_buf_size(MAX_HEAD_BYTES)
            .max_header_size(MAX_HEAD_BYTES)
            .handshake(TokioIo::new(stream))
            .await;
        let (sender, connection) = handshake.map_err(|error| failure(&error))?;
        // The request in progress gets every error of the connection.
        let task = tokio::spawn(async move { drop(timeout(LIFETIME, connection).await) });
        Ok(Self {
            sender,
            meter,
            peer,
            opened: Stopwatch::start(),
            task: task.abort_handle(),
        })
    }

    /// The address that it leads to.
    pub(super) const fn peer(&self) -> IpAddr {
        self.peer
    }

    /// Sends a request and returns the head of the answer; interim answers are skipped.
    pub(super) async fn send(
        &mut self,
        message: Message,
    ) -> Result<Response<Incoming>, AttemptError> {
        self.meter.reset();
        let answered = self.sender.send_request(message).await;
        answered.map_err(|error| failure(&error))
    }

    /// Whether it can carry another exchange; the last answer must have been read to its end.
    pub(super) async fn is_reusable(&mut self) -> bool {
        self.sender.ready().await.is_ok()
    }

    /// Whether its peer has closed it.
    pub(super) fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }

    /// The time since it was opened.
    pub(super) fn age(&self) -> TimeDelta {
        self.opened.elapsed()
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn failure(error: &hyper::Error) -> AttemptError {
    tracing::debug!(target: "dispatcher", error = crate::log::chain(error), "no answer");
    if error.is_parse_too_large() || is_too_much(error) {
        AttemptError::AnswerTooLarge
    } else if error.is_parse() {
        AttemptError::AnswerMalformed
    } else {
        AttemptError::Connection
    }
}

fn is_too_much(error: &hyper::Error) -> bool {
    let cause = error
        .source()
        .and_then(|source| source.downcast_ref::<io::Error>());
    cause
        .and_then(io::Error::get_ref)
        .and_then(|inner| inner.downcast_ref::<TooMuch>())
        .is_some()
}
