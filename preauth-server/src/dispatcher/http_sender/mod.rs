//! The sender on the network: one judged connection, one bounded exchange.

mod answer;
mod client;
mod resolver;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use preauth_core::port::AttemptError;
use reqwest::{Client, Response};

use super::lookup::{Lookup, LookupError, SystemLookup};
use super::policy::TargetPolicy;
use super::sender::{Answer, Request, Sender};
use super::target::judge_url;

pub use client::SenderError;

/// How a sender is set up.
#[derive(Clone)]
pub struct HttpSenderOptions {
    /// Where requests may go.
    pub policy: TargetPolicy,
    /// Who resolves names. Default: the operating system.
    pub lookup: Arc<dyn Lookup>,
    /// How long the whole exchange may take, from the look-up to the last byte read (contract,
    /// "Receiver contract"). Default: 10 s.
    pub exchange: Duration,
    /// How long look-up, connection and handshake may take of that. Default: 3 s.
    pub connect: Duration,
}

impl HttpSenderOptions {
    /// The defaults, under a policy.
    #[must_use]
    pub fn new(policy: TargetPolicy) -> Self {
        Self {
            policy,
            lookup: Arc::new(SystemLookup),
            exchange: Duration::from_secs(10),
            connect: Duration::from_secs(3),
        }
    }
}

impl fmt::Debug for HttpSenderOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpSenderOptions")
            .field("policy", &self.policy)
            .field("exchange", &self.exchange)
            .field("connect", &self.connect)
            .finish_non_exhaustive()
    }
}

/// Posts over HTTP/1.1 and HTTP/2, with TLS under the platform's root certificates.
///
/// The URL is judged at every attempt, its name is resolved once per connection and every address
/// judged, and the address of the connected peer is judged last. Redirects are answers like any
/// other; no proxy, cookie or decompression takes part. Connections are kept and used again: they
/// lead to an address that was judged.
pub struct HttpSender {
    client: Client,
    policy: TargetPolicy,
    exchange: Duration,
}

impl HttpSender {
    /// Sets a sender up; fails when the platform has no root certificates that could be trusted.
    pub fn new(options: HttpSenderOptions) -> Result<Self, SenderError> {
        Ok(Self {
            client: client::build(&options)?,
            policy: options.policy,
            exchange: options.exchange,
        })
    }

    /// Fills `answer` as soon as there is one, and its body as far as it comes.
    async fn converse(
        &self,
        request: Request,
        answer: &mut Option<Answer>,
    ) -> Result<(), AttemptError> {
        let target =
            judge_url(&request.url, &self.policy).map_err(|_| AttemptError::AddressRefused)?;
        let mut post = self.client.post(target.url().clone());
        for (name, value) in request.headers {
            post = post.header(name, value);
        }
        let response = post
            .body(request.body)
            .send()
            .await
            .map_err(|error| failure(&error))?;
        if !self.is_from_judged_peer(&response) {
            return Err(AttemptError::AddressRefused);
        }
        let answer = answer.insert(answer::head(&response)?);
        answer::read_body(response, &mut answer.body).await;
        Ok(())
    }

    fn is_from_judged_peer(&self, response: &Response) -> bool {
        let peer = response.remote_addr();
        peer.is_some_and(|peer| self.policy.allows_address(peer.ip()))
    }
}

#[async_trait]
impl Sender for HttpSender {
    async fn send(&self, request: Request) -> Result<Answer, AttemptError> {
        let mut answer = None;
        let conversation = self.converse(request, &mut answer);
        let outcome = tokio::time::timeout(self.exchange, conversation).await;
        match (outcome, answer) {
            (Ok(Err(error)), _) => Err(error),
            // The status is what counts; a body that does not end is cut where it stands.
            (Ok(Ok(())) | Err(_), Some(answer)) => Ok(answer),
            (Ok(Ok(())) | Err(_), None) => Err(AttemptError::TimedOut),
        }
    }
}

impl fmt::Debug for HttpSender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpSender")
            .field("policy", &self.policy)
            .field("exchange", &self.exchange)
            .finish_non_exhaustive()
    }
}

/// Why there was no answer. The causes go to the log at level debug, without the URL.
fn failure(error: &reqwest::Error) -> AttemptError {
    let mut next = std::error::Error::source(error);
    let mut refused = false;
    let mut causes = Vec::new();
    while let Some(cause) = next {
        let lookup = cause.downcast_ref::<LookupError>();
        refused |= matches!(lookup, Some(LookupError::NotAllowed));
        causes.push(cause.to_string());
        next = cause.source();
    }
    let causes = causes.join(": ");
    tracing::debug!(target: "dispatcher", causes, "no answer");
    if refused {
        AttemptError::AddressRefused
    } else {
        AttemptError::Connection
    }
}
