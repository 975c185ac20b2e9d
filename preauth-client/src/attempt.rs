//! The report of one attempt, and the observer that receives it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::{Call, Error, RateLimit};

/// One attempt and its outcome: a request that was sent, or that could not be sent.
///
/// Passed to the observer of [`ClientBuilder::on_attempt`](crate::ClientBuilder::on_attempt).
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Attempt<'a> {
    /// The call it belongs to.
    pub call: Call,
    /// The number of the attempt within its call, from 1.
    pub number: u32,
    /// Time from its beginning to the last byte of the answer, or to the failure.
    pub took: Duration,
    /// The HTTP status, if there was an answer.
    pub status: Option<u16>,
    /// The id that the service gave the request.
    pub request_id: Option<&'a str>,
    /// The state of the request limit, if the answer reported it.
    pub rate_limit: Option<RateLimit>,
    /// Why it failed; `None` for a success.
    pub error: Option<&'a Error>,
    /// How long the client waits before the next attempt; `None` when this was the last.
    pub retry_in: Option<Duration>,
}

/// The observer of attempts.
#[derive(Clone)]
pub(crate) struct Observer(Arc<dyn Fn(&Attempt<'_>) + Send + Sync>);

impl Observer {
    pub(crate) fn new(observer: impl Fn(&Attempt<'_>) + Send + Sync + 'static) -> Self {
        Self(Arc::new(observer))
    }

    pub(crate) fn notify(&self, attempt: &Attempt<'_>) {
        (self.0)(attempt);
    }
}

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Observer")
    }
}
