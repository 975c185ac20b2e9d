//! A receiver's answer: a stranger's bytes, read as far as they are worth it.

use preauth_core::port::AttemptError;
use reqwest::Response;
use reqwest::header::RETRY_AFTER;

use crate::dispatcher::{Answer, RetryAfter};

/// Most bytes of an answer's head; a longer one is no answer.
pub(super) const MAX_HEAD_BYTES: u32 = 64 * 1024;
/// Most bytes read of an answer's body. A shorter body is read to its end, so that the connection
/// can be used again.
const MAX_BODY_BYTES: usize = 16 * 1024;
/// Bytes of the body that are kept.
const KEPT_BODY_BYTES: usize = 1024;
/// What a header line has besides name and value.
const LINE_OVERHEAD_BYTES: usize = 4;

/// The answer without its body.
pub(super) fn head(response: &Response) -> Result<Answer, AttemptError> {
    let lines = response.headers().iter();
    let sizes = lines.map(|(name, value)| {
        let text = name.as_str().len().saturating_add(value.len());
        text.saturating_add(LINE_OVERHEAD_BYTES)
    });
    let size = sizes.fold(0, usize::saturating_add);
    if u32::try_from(size).is_ok_and(|size| size <= MAX_HEAD_BYTES) {
        let retry_after = response.headers().get(RETRY_AFTER);
        Ok(Answer {
            status: response.status().as_u16(),
            retry_after: retry_after
                .and_then(|value| value.to_str().ok())
                .and_then(RetryAfter::parse),
            body: Vec::new(),
        })
    } else {
        Err(AttemptError::Connection)
    }
}

/// Reads the body until it ends, breaks, or has been read far enough; keeps its beginning.
pub(super) async fn read_body(mut response: Response, kept: &mut Vec<u8>) {
    let mut read_bytes: usize = 0;
    while read_bytes < MAX_BODY_BYTES {
        let Ok(Some(chunk)) = response.chunk().await else {
            return;
        };
        read_bytes = read_bytes.saturating_add(chunk.len());
        let room = KEPT_BODY_BYTES.saturating_sub(kept.len());
        kept.extend(chunk.iter().take(room));
    }
}
