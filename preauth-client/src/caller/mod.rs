//! One call: an exchange, repeated as the retry policy allows.

mod payload;
mod task;

use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;
use tracing::Instrument;

use crate::answer::Answer;
use crate::answer_head::AnswerHead;
use crate::attempt::Observer;
use crate::transport::Transport;
use crate::{Attempt, Error, ErrorKind, Response, RetryPolicy, Timing};

pub(crate) use payload::Payload;
pub(crate) use task::Task;

/// The shortest wait between two calls of a stream, of which the first failed.
const LEAST_PAUSE: Duration = Duration::from_secs(1);

/// Sends the requests of calls, with retries, log and observer.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    pub(crate) transport: Transport,
    pub(crate) attempt_timeout: Duration,
    pub(crate) retry: RetryPolicy,
    pub(crate) timing: Arc<dyn Timing>,
    pub(crate) observer: Option<Observer>,
}

/// The head and the value of a success, with the bytes that the value was read from.
type Success<T> = (AnswerHead, T, Vec<u8>);

impl Caller {
    /// Performs a task and reads the value of a successful answer.
    pub(crate) async fn call<T: DeserializeOwned>(&self, task: Task) -> Result<Response<T>, Error> {
        let span = tracing::debug_span!(
            "preauth_call",
            call = task.call.as_str(),
            path = task.url.path(),
        );
        self.repeat(task, Answer::read).instrument(span).await
    }

    /// Sends until it succeeds, fails for good, or attempts or time run out.
    ///
    /// Every attempt sends the same bytes, with the same idempotency key.
    async fn repeat<T>(
        &self,
        task: Task,
        read: impl Fn(Answer) -> Result<Success<T>, Error>,
    ) -> Result<Response<T>, Error> {
        let began = self.timing.now();
        let mut number: u32 = 1;
        loop {
            let start = self.timing.now();
            let left = self.left_since(began, start);
            let outcome = self.exchange(&task, left).await.and_then(&read);
            let now = self.timing.now();
            let took = now.saturating_sub(start);
            let failure = match outcome {
                Ok(success) => {
                    self.report(&task, number, took, Ok(&success.0));
                    return Ok(Response::new(success, number, task.key));
                }
                Err(failure) => {
                    failure.of_call(task.call, task.operation, task.key.as_ref(), number)
                }
            };
            let left = self.left_since(began, now);
            let wait = self
                .wait_after(&task, &failure, number)
                .filter(|wait| *wait < left);
            self.report(&task, number, took, Err((&failure, wait)));
            let Some(wait) = wait else {
                return Err(failure);
            };
            self.timing.sleep(wait).await;
            number = number.saturating_add(1);
        }
    }

    async fn exchange(&self, task: &Task, left: Duration) -> Result<Answer, Error> {
        let Some(request) = task.request() else {
            return Err(Error::new(ErrorKind::File).caused_by("the stream has been read before"));
        };
        let timeout = self.attempt_timeout.min(left);
        self.transport.exchange(request, timeout).await
    }

    fn left_since(&self, began: Duration, now: Duration) -> Duration {
        self.retry.total().saturating_sub(now.saturating_sub(began))
    }

    /// How long to wait before an offer of a batch is sent again that failed so often; `None` when it is
    /// given up.
    pub(crate) fn wait_before_again(&self, attempts: u32) -> Option<Duration> {
        self.retry.wait_after(attempts, None, self.timing.random())
    }

    /// How long to wait before the next call after one that failed for reasons that pass, however few attempts a call
    /// has: callers that ask again at once do not turn without a pause.
    pub(crate) fn wait_as_asked(&self, asked_for: Option<Duration>) -> Duration {
        let wait = self.retry.wait_after(0, asked_for, self.timing.random());
        wait.or(asked_for).unwrap_or_default().max(LEAST_PAUSE)
    }

    fn wait_after(&self, task: &Task, failure: &Error, number: u32) -> Option<Duration> {
        if !failure.is_retryable() || !task.payload.is_whole() {
            return None;
        }
        let (asked_for, random) = (failure.retry_after(), self.timing.random());
        self.retry.wait_after(number, asked_for, random)
    }

    /// Reports one attempt to the log and the observer.
    fn report(
        &self,
        task: &Task,
        number: u32,
        took: Duration,
        outcome: Result<&AnswerHead, (&Error, Option<Duration>)>,
    ) {
        if let Err((error, retry_in)) = outcome {
            tracing::debug!(number, ?took, ?retry_in, %error, "an attempt failed");
        }
        let Some(observer) = &self.observer else {
            return;
        };
        let (head, failed) = match outcome {
            Ok(head) => (Some(head), None),
            Err(failed) => (failed.0.head(), Some(failed)),
        };
        observer.notify(&Attempt {
            call: task.call,
            number,
            took,
            status: head.map(|head| head.status.as_u16()),
            request_id: head.and_then(|head| head.request_id.as_deref()),
            rate_limit: head.and_then(|head| head.rate_limit),
            error: failed.map(|(error, _)| error),
            retry_in: failed.and_then(|(_, retry_in)| retry_in),
        });
    }
}
