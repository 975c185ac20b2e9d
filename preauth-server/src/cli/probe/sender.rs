//! Signs and sends deliveries to the one receiver that the caller has named.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use preauth_core::port::AttemptError;
use preauth_core::value::EventId;
use webhook_verify::{SIGNATURE_HEADER, Secret, sign};

use crate::clock::{Clock, Stopwatch, SystemClock};
use crate::dispatcher::{
    EndpointError, EndpointPolicy, EndpointValidator, ExtraRoots, HttpSender, HttpSenderOptions,
    Lookup, LookupError, Request, Sender, TlsError, UrlRefusal, sent_headers,
};
use crate::ids::random_bytes;
use crate::language::Language;

use super::event::ProbeEvent;
use super::words;

/// A receiver's patience is probed longer than the service would wait for it.
const EXCHANGE: Duration = Duration::from_secs(15);
/// Pause before each piece of a slow body, which takes two seconds in all.
const PIECE_PAUSE: Duration = Duration::from_millis(250);

/// How a delivery is signed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Signature {
    /// By the receiver's secret, now.
    Genuine,
    /// By the receiver's secret, this number of seconds ago.
    Aged(i64),
    /// By a secret that the receiver does not know.
    Forged,
    /// By the receiver's secret, for another body.
    OfAnotherBody,
    /// By both secrets, the unknown one first, as in the middle of a rotation.
    UnknownThenGenuine,
    /// By both secrets, the receiver's first.
    GenuineThenUnknown,
    /// Not at all.
    Absent,
}

/// What came back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reply {
    pub(super) status: Result<u16, AttemptError>,
    pub(super) duration_ms: i64,
}

/// Why nothing can be sent.
#[derive(Debug)]
pub(super) enum CannotSend {
    Url(UrlRefusal),
    /// Plain HTTP to another machine.
    PlainHttp,
    Lookup(EndpointError),
    Tls(TlsError),
    /// The first delivery found nobody.
    Unreachable(AttemptError),
}

impl CannotSend {
    pub(super) fn text(&self, language: Language) -> String {
        match self {
            Self::Url(refusal) => words::url_refused(language, refusal),
            Self::PlainHttp => words::PLAIN_HTTP.of(language).to_owned(),
            Self::Lookup(error) => words::unreachable(language, error),
            Self::Tls(error) => words::no_tls(language, error),
            Self::Unreachable(error) => words::unreachable(language, error),
        }
    }
}

/// The addresses that the receiver had when they were checked: a name that leads elsewhere a moment
/// later gets nothing.
struct CheckedAddresses(Vec<IpAddr>);

#[async_trait]
impl Lookup for CheckedAddresses {
    async fn addresses(&self, _name: &str) -> Result<Vec<IpAddr>, LookupError> {
        Ok(self.0.clone())
    }
}

/// Sends to one URL; redirects are not followed.
pub(super) struct ProbeSender {
    url: String,
    secret: Secret,
    unknown: Secret,
    at_once: HttpSender,
    slow: HttpSender,
}

impl ProbeSender {
    /// Checks that `url` is https, or leads to this machine.
    pub(super) async fn open(
        url: String,
        secret: Secret,
        roots: ExtraRoots,
    ) -> Result<Self, CannotSend> {
        let policy = EndpointPolicy::named_by_caller();
        let validator = EndpointValidator::by_system(policy.clone());
        let endpoint = validator.parse(&url).map_err(CannotSend::Url)?;
        let addresses = validator.addresses(&endpoint).await;
        let addresses = addresses.map_err(CannotSend::Lookup)?;
        let is_plain = endpoint.url().scheme() == "http";
        if is_plain && !addresses.iter().all(IpAddr::is_loopback) {
            return Err(CannotSend::PlainHttp);
        }
        let validator = EndpointValidator::new(policy, Arc::new(CheckedAddresses(addresses)));
        let options = HttpSenderOptions {
            extra_roots: roots,
            exchange: EXCHANGE,
            ..HttpSenderOptions::new(validator)
        };
        let slow = HttpSenderOptions {
            piece_pause: Some(PIECE_PAUSE),
            ..options.clone()
        };
        Ok(Self {
            url,
            secret,
            unknown: unknown_secret(),
            at_once: HttpSender::new(options).map_err(CannotSend::Tls)?,
            slow: HttpSender::new(slow).map_err(CannotSend::Tls)?,
        })
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Sends a delivery at once.
    pub(super) async fn send(&self, event: &ProbeEvent, signature: Signature) -> Reply {
        self.send_by(&self.at_once, event, signature).await
    }

    /// Sends a genuine delivery in small pieces.
    pub(super) async fn send_slowly(&self, event: &ProbeEvent) -> Reply {
        self.send_by(&self.slow, event, Signature::Genuine).await
    }

    async fn send_by(
        &self,
        sender: &HttpSender,
        event: &ProbeEvent,
        signature: Signature,
    ) -> Reply {
        let mut headers: Vec<_> = sent_headers(EventId::new(event.id), &event.event_type).into();
        if let Some(signature) = self.signature(signature, event.body.as_bytes()) {
            headers.push((SIGNATURE_HEADER, signature));
        }
        let request = Request {
            url: self.url.clone(),
            headers,
            body: event.body.clone(),
        };
        let stopwatch = Stopwatch::start();
        let answer = sender.send(request).await;
        Reply {
            status: answer.map(|answer| answer.status),
            duration_ms: stopwatch.elapsed().num_milliseconds(),
        }
    }

    fn signature(&self, signature: Signature, body: &[u8]) -> Option<String> {
        let now = SystemClock.now().unix_seconds();
        let (genuine, unknown) = (self.secret.clone(), self.unknown.clone());
        let signed = match signature {
            Signature::Genuine => sign(&[genuine], now, body),
            Signature::Aged(seconds) => sign(&[genuine], now.saturating_sub(seconds), body),
            Signature::Forged => sign(&[unknown], now, body),
            Signature::OfAnotherBody => sign(&[genuine], now, b"{}"),
            Signature::UnknownThenGenuine => sign(&[unknown, genuine], now, body),
            Signature::GenuineThenUnknown => sign(&[genuine, unknown], now, body),
            Signature::Absent => return None,
        };
        // It fails for times that no clock shows only.
        signed.ok()
    }
}

fn unknown_secret() -> Secret {
    let text = format!("whsec_{}", hex::encode(random_bytes::<32>()));
    #[expect(clippy::expect_used, reason = "its form is fixed here")]
    Secret::parse(&text).expect("a secret of the right form")
}
