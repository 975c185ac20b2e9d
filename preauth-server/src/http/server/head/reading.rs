//! The HTTP library's reading of a request's head, to be compared with that of `head.rs`.
//!
//! The fuzz target `request_head` includes this file.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http_body_util::Empty;
use hyper::body::{Body, Incoming};
use hyper::header::CONNECTION;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;

/// A request as the library passes it to a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reading {
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) header_count: usize,
    /// The length of its body; `None` when the body comes in chunks.
    pub(crate) length: Option<u64>,
}

/// The first request in `bytes`; `None` when the library refuses it.
pub(crate) async fn reading_of(bytes: &[u8]) -> Option<Reading> {
    let found = Arc::new(Mutex::new(None));
    let service = service_fn(|request: Request<Incoming>| {
        let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
        found.get_or_insert_with(|| Reading::of(&request));
        let answer = Response::builder().header(CONNECTION, "close");
        let answer = answer.body(Empty::<Bytes>::new()).unwrap_or_default();
        std::future::ready(Ok::<_, Infallible>(answer))
    });
    let transport = tokio::io::join(bytes, tokio::io::sink());
    let mut protocol = http1::Builder::new();
    protocol.half_close(true).header_read_timeout(None);
    // A refused head is an error of the connection.
    let _ = protocol
        .serve_connection(TokioIo::new(transport), service)
        .await;
    found.lock().unwrap_or_else(PoisonError::into_inner).take()
}

impl Reading {
    fn of(request: &Request<Incoming>) -> Self {
        Self {
            method: request.method().to_string(),
            target: request.uri().to_string(),
            header_count: request.headers().len(),
            length: request.body().size_hint().exact(),
        }
    }

    /// Whether `target`, as sent, is this target. The library lower-cases the scheme of an absolute
    /// target, and adds a slash to such a target without a path.
    pub(crate) fn has_target(&self, target: &[u8]) -> bool {
        let shown = self.target.as_bytes();
        if shown == target {
            return true;
        }
        let is_absolute = shown.windows(3).any(|window| window == b"://");
        let shorter = shown.strip_suffix(b"/").unwrap_or(shown);
        is_absolute
            && [shown, shorter]
                .iter()
                .any(|shown| shown.eq_ignore_ascii_case(target))
    }
}
