//! Polling an operation until it has a status.

use std::time::Duration;

use preauth_core::value::{OperationId, Status};
use preauth_core::wire::PreAuthorization;

use super::Client;
use crate::{Error, Response, WaitPolicy, Waited};

impl Client {
    /// Polls an operation until its status is one of `wanted`, it is closed with another status, or the
    /// time of `policy` is up.
    ///
    /// Every request counts towards the request limit: prefer webhooks where you can receive them. An
    /// `Err` is a request that failed after all its attempts; call again to continue waiting.
    ///
    /// ```no_run
    /// use std::time::Duration;
    /// use preauth_client::value::{OperationId, Status};
    /// use preauth_client::{Client, WaitPolicy, Waited};
    ///
    /// # async fn example(client: Client, id: OperationId) -> Result<(), preauth_client::Error> {
    /// let an_hour = WaitPolicy::new(Duration::from_secs(3600));
    /// match client.wait_for_status(id, &[Status::ToApprove], an_hour).await? {
    ///     Waited::Reached(operation) => println!("requested; approve {}", operation.id),
    ///     Waited::Closed(operation) => println!("ended as {}", operation.status),
    ///     Waited::TimeIsUp(operation) => println!("still {}", operation.status),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn wait_for_status(
        &self,
        id: OperationId,
        wanted: &[Status],
        policy: WaitPolicy,
    ) -> Result<Waited, Error> {
        let timing = &self.caller().timing;
        let began = timing.now();
        let mut question: u32 = 1;
        loop {
            let answer = self.get(id).await?;
            if wanted.iter().any(|wanted| answer.status == *wanted) {
                return Ok(Waited::Reached(answer));
            }
            if is_closed(&answer) {
                return Ok(Waited::Closed(answer));
            }
            let passed = timing.now().saturating_sub(began);
            let wait = policy
                .interval(question, timing.random())
                .max(until_allowed(&answer));
            if wait >= policy.total().saturating_sub(passed) {
                return Ok(Waited::TimeIsUp(answer));
            }
            timing.sleep(wait).await;
            question = question.saturating_add(1);
        }
    }
}

/// Whether the operation is no longer in progress and stays so unless the platform reopens it.
fn is_closed(operation: &PreAuthorization) -> bool {
    operation.status == Status::Reproved || operation.status == Status::Concluded
}

/// How long the request limit forbids the next request.
fn until_allowed(answer: &Response<PreAuthorization>) -> Duration {
    answer
        .rate_limit()
        .filter(|limit| limit.remaining() == 0)
        .map_or(Duration::ZERO, |limit| limit.resets_in())
}
