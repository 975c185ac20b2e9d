//! One call: as many exchanges as the policy allows.

use std::time::Duration;

use preauth_core::value::IdempotencyKey;
use reqwest::Request;
use serde::de::DeserializeOwned;
use tokio::time::{Instant, sleep};

use crate::answer::AnswerHead;
use crate::transport::Transport;
use crate::{Error, ErrorKind, Response, RetryPolicy};

/// How calls are made.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    pub(crate) transport: Transport,
    pub(crate) attempt_timeout: Duration,
    pub(crate) retry: RetryPolicy,
}

impl Caller {
    /// Sends `request` until it succeeds, fails for good, or attempts or time run out.
    ///
    /// Every attempt sends the very same bytes, the idempotency key included.
    pub(crate) async fn call<T: DeserializeOwned>(
        &self,
        request: Request,
        key: Option<IdempotencyKey>,
    ) -> Result<Response<T>, Error> {
        let began = Instant::now();
        let mut attempt: u32 = 1;
        loop {
            let left = self.retry.total().saturating_sub(began.elapsed());
            // Bodies are bytes, which can always be sent again.
            let outcome = match request.try_clone() {
                Some(copy) => self.exchange(copy, left).await,
                None => Err(Error::new(ErrorKind::Transport)),
            };
            let failure = match outcome {
                Ok(success) => return Ok(Response::new(success, attempt, key)),
                Err(failure) => failure,
            };
            let left = self.retry.total().saturating_sub(began.elapsed());
            match self.wait_after(&failure, attempt) {
                Some(wait) if wait < left => sleep(wait).await,
                _ => return Err(failure.of_call(attempt, key.as_ref())),
            }
            attempt = attempt.saturating_add(1);
        }
    }

    async fn exchange<T: DeserializeOwned>(
        &self,
        request: Request,
        left: Duration,
    ) -> Result<(AnswerHead, T, Vec<u8>), Error> {
        let timeout = self.attempt_timeout.min(left);
        self.transport.exchange(request, timeout).await?.judge()
    }

    fn wait_after(&self, failure: &Error, attempt: u32) -> Option<Duration> {
        if !failure.is_retryable() {
            return None;
        }
        // Without randomness the longest wait is the careful one.
        let random = getrandom::u64().unwrap_or(u64::MAX);
        self.retry
            .wait_after(attempt, failure.retry_after(), random)
    }
}
