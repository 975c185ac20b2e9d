//! Sends requests over the network: one checked connection, one bounded exchange.
//!
//! Details that general HTTP clients hide are decisive here: the address that a socket is connected
//! to, the number of bytes before there is an answer, and the step at which an attempt ended. So
//! this sender is built on `hyper`'s connections: `connect` opens a socket to a checked address,
//! `tls` authenticates its peer, `connection` carries one exchange at a time, `pool` keeps it for
//! the next one.

mod answer;
mod connect;
mod connection;
mod meter;
mod pool;
mod request;
mod roots;
mod slow_body;
mod tls;

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use hyper::Response;
use hyper::body::Incoming;
use preauth_core::port::AttemptError;
use tokio::time::timeout;

use super::UrlRefusal;
use super::endpoint_url::EndpointUrl;
use super::endpoint_validator::{EndpointError, EndpointValidator};
use super::sender::{Answer, Request, Sender};

use connection::Connection;
use pool::Pool;
use request::Message;
use tls::Tls;

pub use roots::{ExtraRoots, RootsError};
pub use tls::TlsError;

/// Settings of a sender.
#[derive(Clone, Debug)]
pub struct HttpSenderOptions {
    /// The rules for receivers.
    pub validator: EndpointValidator,
    /// Trusted certificates in addition to the platform's roots. Default: none.
    pub extra_roots: ExtraRoots,
    /// Maximum duration of the whole exchange, from the look-up to the last byte read (contract,
    /// "Receiver contract"). Default: 10 s.
    pub exchange: Duration,
    /// Maximum duration of look-up, connection and handshake within that. Default: 3 s.
    pub connect: Duration,
    /// Pause before each of a few pieces of a body, to try how a receiver bears a slow network.
    /// Default: none, the body is sent at once.
    pub piece_pause: Option<Duration>,
}

impl HttpSenderOptions {
    /// The defaults, with this validator.
    #[must_use]
    pub fn new(validator: EndpointValidator) -> Self {
        Self {
            validator,
            extra_roots: ExtraRoots::default(),
            exchange: Duration::from_secs(10),
            connect: Duration::from_secs(3),
            piece_pause: None,
        }
    }
}

/// Posts over HTTP/1.1, with TLS under the platform's root certificates and the extra ones.
///
/// The URL is checked at every attempt. A new connection needs one look-up; every address of the
/// answer is checked, the socket is connected to a checked one, and the address of the connected
/// peer is checked before anything is sent. The name stays in SNI, certificate and `Host`.
/// Redirects are answers like any other; there is no proxy, cookie or decompression. Connections
/// are kept for some minutes and reused: they lead to an address that was checked.
pub struct HttpSender {
    validator: EndpointValidator,
    tls: Tls,
    pool: Pool,
    exchange: Duration,
    connect: Duration,
    piece_pause: Option<Duration>,
}

/// The progress of an attempt; decides which error a timeout becomes.
struct Progress {
    step: Step,
    answer: Option<Answer>,
}

#[derive(Clone, Copy)]
enum Step {
    LookUp,
    Connect,
    Handshake,
    Exchange,
}

impl Step {
    const fn timed_out(self) -> AttemptError {
        match self {
            Self::LookUp => AttemptError::LookupTimedOut,
            Self::Connect => AttemptError::ConnectTimedOut,
            Self::Handshake => AttemptError::TlsTimedOut,
            Self::Exchange => AttemptError::TimedOut,
        }
    }
}

impl HttpSender {
    /// Builds a sender; fails without any usable root certificate.
    pub fn new(options: HttpSenderOptions) -> Result<Self, TlsError> {
        Ok(Self {
            tls: Tls::new(&options.extra_roots, &options.validator.policy())?,
            validator: options.validator,
            pool: Pool::default(),
            exchange: options.exchange,
            connect: options.connect,
            piece_pause: options.piece_pause,
        })
    }

    /// Looks a receiver up, connects to it and authenticates it, and sends it nothing.
    pub async fn reach(&self, url: &str) -> Result<(), AttemptError> {
        let endpoint = self.validator.parse(url).map_err(refused)?;
        let mut progress = Progress {
            step: Step::LookUp,
            answer: None,
        };
        let opening = timeout(self.connect, self.open(&endpoint, &mut progress)).await;
        let opened = opening.unwrap_or_else(|_| Err(progress.step.timed_out()));
        opened.map(drop)
    }

    /// Fills in `progress` step by step, the answer included.
    async fn converse(
        &self,
        request: Request,
        progress: &mut Progress,
    ) -> Result<(), AttemptError> {
        let endpoint = self.validator.parse(&request.url).map_err(refused)?;
        let message = request::message(&endpoint, request, self.piece_pause)?;
        let (mut connection, response) = self.ask(&endpoint, message, progress).await?;
        let answer = progress.answer.insert(answer::head(&response));
        if answer::read_body(response, &mut answer.body).await && connection.is_reusable().await {
            self.pool.keep(endpoint.origin(), connection);
        }
        Ok(())
    }

    /// Sends over a kept connection, or over a new one.
    ///
    /// The receiver may close a kept connection at this moment. That is not the receiver's failure,
    /// so the request is sent again. It may then arrive twice, which receivers must expect
    /// (contract, "Receiver contract").
    async fn ask(
        &self,
        endpoint: &EndpointUrl,
        message: Message,
        progress: &mut Progress,
    ) -> Result<(Connection, Response<Incoming>), AttemptError> {
        progress.step = Step::Exchange;
        // What is allowed may have changed since it was connected.
        let kept = self.pool.take(endpoint.origin());
        if let Some(mut kept) = kept.filter(|kept| self.validator.allows(kept.peer())) {
            let answered = kept.send(message.clone()).await;
            if answered.as_ref().err() != Some(&AttemptError::Connection) {
                return Ok((kept, answered?));
            }
        }
        let opening = timeout(self.connect, self.open(endpoint, progress)).await;
        let mut opened = opening.unwrap_or_else(|_| Err(progress.step.timed_out()))?;
        progress.step = Step::Exchange;
        let response = opened.send(message).await?;
        Ok((opened, response))
    }

    async fn open(
        &self,
        endpoint: &EndpointUrl,
        progress: &mut Progress,
    ) -> Result<Connection, AttemptError> {
        progress.step = Step::LookUp;
        let addresses = self
            .validator
            .addresses(endpoint)
            .await
            .map_err(unresolved)?;
        progress.step = Step::Connect;
        let (stream, meter, peer) =
            connect::to_any(&addresses, endpoint.port(), &self.validator).await?;
        if endpoint.url().scheme() == "http" {
            return Connection::over(stream, meter, peer).await;
        }
        progress.step = Step::Handshake;
        let stream = self.tls.prove(stream, endpoint.host()).await?;
        Connection::over(stream, meter, peer).await
    }
}

#[async_trait]
impl Sender for HttpSender {
    async fn send(&self, request: Request) -> Result<Answer, AttemptError> {
        let mut progress = Progress {
            step: Step::Exchange,
            answer: None,
        };
        let conversation = self.converse(request, &mut progress);
        let outcome = timeout(self.exchange, conversation).await;
        match (outcome, progress.answer) {
            (Ok(Err(error)), _) => Err(error),
            // The status decides; a body that does not end is truncated.
            (Ok(Ok(())) | Err(_), Some(answer)) => Ok(answer),
            (Ok(Ok(())) | Err(_), None) => Err(progress.step.timed_out()),
        }
    }
}

fn refused(refusal: UrlRefusal) -> AttemptError {
    match refusal {
        UrlRefusal::AddressNotPublic(address) => {
            // The address was public at registration: log where the name leads now. Names and paths
            // may be secrets, so they are not logged.
            tracing::warn!(target: "dispatcher", %address, "receiver leads to an address that is not allowed");
            AttemptError::AddressRefused
        }
        UrlRefusal::NameUnknown => AttemptError::NameUnknown,
        UrlRefusal::Empty
        | UrlRefusal::TooLong
        | UrlRefusal::Character
        | UrlRefusal::Scheme
        | UrlRefusal::UserInfo
        | UrlRefusal::PercentInHost
        | UrlRefusal::Port
        | UrlRefusal::Fragment
        | UrlRefusal::Host
        | UrlRefusal::SingleLabel
        | UrlRefusal::ReservedName
        | UrlRefusal::AddressForm => AttemptError::UrlRefused,
    }
}

fn unresolved(error: EndpointError) -> AttemptError {
    match error {
        EndpointError::Refused(refusal) => refused(refusal),
        EndpointError::Unknown(cause) => {
            let cause = cause.to_string();
            tracing::debug!(target: "dispatcher", cause, "not looked up");
            AttemptError::LookupFailed
        }
    }
}

impl fmt::Debug for HttpSender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpSender")
            .field("validator", &self.validator)
            .field("exchange", &self.exchange)
            .finish_non_exhaustive()
    }
}
