//! The port that sends requests to receivers.

use async_trait::async_trait;
use preauth_core::port::AttemptError;

use super::retry_after::RetryAfter;

/// Sends one request and reads the answer.
#[async_trait]
pub trait Sender: Send + Sync {
    /// Posts `request` and returns the answer, whatever its status.
    ///
    /// An error means that there was no answer, or none that may be read.
    async fn send(&self, request: Request) -> Result<Answer, AttemptError>;
}

/// A request to post.
#[derive(Clone, PartialEq, Eq)]
pub struct Request {
    /// The endpoint's URL, as stored.
    pub url: String,
    /// Names in lower case, and values.
    pub headers: Vec<(&'static str, String)>,
    /// The exact bytes that were signed.
    pub body: String,
}

impl std::fmt::Debug for Request {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // URLs may contain tokens, and bodies confidential data.
        f.debug_struct("Request").finish_non_exhaustive()
    }
}

/// A receiver's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// When the receiver asks for the next attempt, if it does.
    pub retry_after: Option<RetryAfter>,
    /// The first 1,024 bytes of the body, as far as they were read: untrusted.
    pub body: Vec<u8>,
}

impl Answer {
    /// Whether this answer confirms the delivery (contract, "Receiver contract").
    #[must_use]
    pub fn confirms(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The delay in `Retry-After`, in seconds after `now`; only for 429 and 503.
    #[must_use]
    pub fn asked_delay_seconds(&self, now: preauth_core::value::Timestamp) -> Option<u32> {
        let asked = self
            .retry_after
            .filter(|_| matches!(self.status, 429 | 503))?;
        Some(asked.seconds_from(now))
    }
}

#[cfg(test)]
mod tests {
    use super::Answer;
    use crate::dispatcher::RetryAfter;
    use preauth_core::value::Timestamp;

    fn answer(status: u16) -> Answer {
        Answer {
            status,
            retry_after: Some(RetryAfter::Seconds(60)),
            body: Vec::new(),
        }
    }

    // Contract: endpoint/redirects delivery/10-seconds
    #[test]
    fn any_2xx_confirms_and_nothing_else_does() {
        for status in [200, 201, 204, 299] {
            assert!(answer(status).confirms(), "{status}");
        }
        for status in [100, 199, 300, 301, 304, 400, 410, 500] {
            assert!(!answer(status).confirms(), "{status}");
        }
    }

    #[test]
    fn a_delay_is_heard_on_429_and_503_only() {
        for (status, delay) in [(429, Some(60)), (503, Some(60)), (500, None), (301, None)] {
            assert_eq!(
                answer(status).asked_delay_seconds(Timestamp::MIN),
                delay,
                "{status}"
            );
        }
    }
}
