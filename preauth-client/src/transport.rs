//! One exchange over HTTP. The only file that drives the HTTP library.

use std::error::Error as StdError;
use std::iter::successors;
use std::time::Duration;

use reqwest::{Request, Response};

use crate::answer::Answer;
use crate::answer_head::AnswerHead;
use crate::file::UnreadableFile;
use crate::{Error, ErrorKind};

/// Sends requests, and reads answers up to a limit.
#[derive(Clone, Debug)]
pub(crate) struct Transport {
    pub(crate) http: reqwest::Client,
    pub(crate) max_answer_bytes: usize,
}

impl Transport {
    /// One exchange, its answer's last byte included, within `timeout`.
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

    /// Reads as much as is accepted; `None` when there is more, of which nothing is kept.
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

    /// The length of an answer that states it, as far as it is accepted.
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
    // The address is the caller's own setting, and the path would only repeat the call.
    Error::new(kind).caused_by(error.without_url())
}

/// Whether it was the caller's own stream that failed.
fn has_unreadable_file(error: &reqwest::Error) -> bool {
    successors(error.source(), |&cause| cause.source()).any(<dyn StdError>::is::<UnreadableFile>)
}
