//! One exchange over HTTP. Only this file sends requests through the HTTP library.

use std::error::Error as StdError;
use std::iter::successors;
use std::time::Duration;

use reqwest::{Request, Response};

use crate::answer::Answer;
use crate::answer_head::AnswerHead;
use crate::file::UnreadableFile;
use crate::{Error, ErrorKind};

/// Sends requests, and reads answers up to a size limit.
#[derive(Clone, Debug)]
pub(crate) struct Transport {
    pub(crate) http: reqwest::Client,
    pub(crate) max_answer_bytes: usize,
}

impl Transport {
    /// One exchange, up to the last byte of the answer, within `timeout`.
    pub(crate) async fn exchange(
        &self,
        mut request: Request,
        timeout: Duration,
    ) -> Result<Answer, Error> {
        *request.timeout_mut() = Some(timeout);
        let response = self.http.execute(request).await.map_err(broken)?;
        let head = AnswerHead::read(response.status(), response.headers());
        let body = self.read(response).await?;
        Ok(Answer { head, body })
    }

    /// Reads a body up to the size limit; `None` when it is longer, and nothing of it is kept.
    async fn read(&self, mut response: Response) -> Result<Option<Vec<u8>>, Error> {
        let mut body = Vec::with_capacity(self.expected(&response));
        while let Some(chunk) = response.chunk().await.map_err(broken)? {
            if chunk.len() > self.max_answer_bytes.saturating_sub(body.len()) {
                return Ok(None);
            }
            body.extend_from_slice(&chunk);
        }
        Ok(Some(body))
    }

    /// The stated length of an answer, capped at the size limit; for allocating its buffer.
    fn expected(&self, response: &Response) -> usize {
        let length = response.content_length().unwrap_or_default();
        usize::try_from(length).map_or(0, |length| length.min(self.max_answer_bytes))
    }
}

fn broken(error: reqwest::Error) -> Error {
    let kind = if has_unreadable_file(&error) {
        ErrorKind::File
    } else if error.is_connect() {
        ErrorKind::Connect
    } else if error.is_timeout() {
        ErrorKind::Timeout
    } else {
        ErrorKind::Transport
    };
    // The error names the call already, and the address is the caller's own setting.
    Error::new(kind).caused_by(error.without_url())
}

/// Whether the caller's own stream failed.
fn has_unreadable_file(error: &reqwest::Error) -> bool {
    successors(error.source(), |&cause| cause.source()).any(<dyn StdError>::is::<UnreadableFile>)
}
