//! A receiver's answer: untrusted bytes, read up to a limit.

use http_body_util::BodyExt;
use hyper::Response;
use hyper::body::Incoming;
use hyper::header::RETRY_AFTER;

use crate::dispatcher::{Answer, RetryAfter};

/// Maximum number of bytes read of an answer's body. A shorter body is read to its end, so that the
/// connection can be reused.
const MAX_BODY_BYTES: usize = 16 * 1024;
/// Number of bytes of the body that are kept.
const KEPT_BODY_BYTES: usize = 1024;

/// The answer without its body.
pub(super) fn head(response: &Response<Incoming>) -> Answer {
    let retry_after = response.headers().get(RETRY_AFTER);
    Answer {
        status: response.status().as_u16(),
        retry_after: retry_after
            .and_then(|value| value.to_str().ok())
            .and_then(RetryAfter::parse),
        body: Vec::new(),
    }
}

/// Reads the body until it ends, fails, or reaches the limit, and keeps its beginning. Returns
/// whether it ended.
pub(super) async fn read_body(response: Response<Incoming>, kept: &mut Vec<u8>) -> bool {
    let mut body = response.into_body();
    let mut read_bytes: usize = 0;
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else {
            return false;
        };
        let Some(chunk) = frame.data_ref() else {
            continue;
        };
        read_bytes = read_bytes.saturating_add(chunk.len());
        let room = KEPT_BODY_BYTES.saturating_sub(kept.len());
        kept.extend(chunk.iter().take(room));
        if read_bytes >= MAX_BODY_BYTES {
            return false;
        }
    }
    true
}
