//! Counts deliveries, as a decorator of the port that records their attempts.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use preauth_core::port::{
    Attempt, AttemptError, Claim, Claimed, Leased, Outbox, Unavailable, Verdict,
};
use preauth_core::value::{EndpointId, Timestamp};
use prometheus::{HistogramVec, IntCounter, IntCounterVec};

use crate::telemetry::traces::Traces;

use super::family::{Families, class, seconds};

const OUTCOMES: [&str; 4] = ["delivered", "retried", "given_up", "lease_lost"];
const RESULTS: [&str; 13] = [
    "1xx",
    "2xx",
    "3xx",
    "4xx",
    "5xx",
    "other",
    "lookup",
    "address_refused",
    "connection",
    "tls",
    "no_answer",
    "timed_out",
    "secret",
];

/// Counts attempts and their consequences.
#[derive(Clone, Debug)]
pub struct DeliveryMetrics {
    attempts: IntCounterVec,
    durations: HistogramVec,
    pauses: IntCounter,
}

impl DeliveryMetrics {
    pub(super) fn new(families: &Families<'_>) -> Self {
        let metrics = Self {
            attempts: families.counters(
                "preauth_delivery_attempts_total",
                "Attempts to deliver, by what follows: delivered, retried later, given up after \
                 the last, or not recorded because the lease was lost.",
                &["outcome"],
            ),
            durations: families.durations(
                "preauth_delivery_attempt_duration_seconds",
                "Time of the whole exchange, by class of the answer's status or by error.",
                &["result"],
            ),
            pauses: families.counter(
                "preauth_endpoint_pauses_total",
                "Endpoints paused because nothing arrived there for days.",
            ),
        };
        for outcome in OUTCOMES {
            let _ = metrics.attempts.with_label_values(&[outcome]);
        }
        for result in RESULTS {
            let _ = metrics.durations.with_label_values(&[result]);
        }
        metrics
    }

    fn note(&self, attempt: &Attempt, verdict: Verdict, is_recorded: bool) {
        self.durations
            .with_label_values(&[result(attempt)])
            .observe(seconds(attempt.duration));
        let (outcome, pauses) = match verdict {
            _ if !is_recorded => ("lease_lost", false),
            Verdict::Delivered => ("delivered", false),
            Verdict::RetryAt { pause_endpoint, .. } => ("retried", pause_endpoint),
            Verdict::Failed { pause_endpoint } => ("given_up", pause_endpoint),
        };
        self.attempts.with_label_values(&[outcome]).inc();
        if pauses {
            self.pauses.inc();
        }
    }
}

/// An outbox whose finished attempts are counted, and traced if traces are sent.
pub struct CountedOutbox {
    inner: Arc<dyn Outbox>,
    metrics: DeliveryMetrics,
    traces: Option<Traces>,
}

impl CountedOutbox {
    /// Counts the finished attempts of `inner`.
    #[must_use]
    pub fn new(inner: Arc<dyn Outbox>, metrics: DeliveryMetrics, traces: Option<Traces>) -> Self {
        Self {
            inner,
            metrics,
            traces,
        }
    }
}

#[async_trait]
impl Outbox for CountedOutbox {
    async fn claim(&self, claim: &Claim) -> Result<Claimed, Unavailable> {
        self.inner.claim(claim).await
    }

    /// An attempt that could not be recorded is not counted: it is recorded later, or repeated.
    async fn finish(
        &self,
        leased: &Leased,
        attempt: &Attempt,
        verdict: Verdict,
    ) -> Result<bool, Unavailable> {
        let is_recorded = self.inner.finish(leased, attempt, verdict).await?;
        self.metrics.note(attempt, verdict, is_recorded);
        if let Some(traces) = &self.traces {
            traces.attempted(leased, attempt);
        }
        Ok(is_recorded)
    }

    async fn note_slow(&self, endpoints: &[EndpointId]) -> Result<(), Unavailable> {
        self.inner.note_slow(endpoints).await
    }

    async fn release(&self, leased: &Leased) -> Result<(), Unavailable> {
        self.inner.release(leased).await
    }

    async fn next_due(&self) -> Result<Option<Timestamp>, Unavailable> {
        self.inner.next_due().await
    }

    async fn bring_forward(&self, now: Timestamp, limit: u32) -> Result<u64, Unavailable> {
        self.inner.bring_forward(now, limit).await
    }
}

fn result(attempt: &Attempt) -> &'static str {
    match (attempt.http_status, attempt.error) {
        (Some(status), _) => class(status),
        (None, Some(error)) => without_answer(error),
        (None, None) => "other",
    }
}

/// The step at which an attempt ended.
const fn without_answer(error: AttemptError) -> &'static str {
    match error {
        AttemptError::NameUnknown | AttemptError::LookupFailed | AttemptError::LookupTimedOut => {
            "lookup"
        }
        AttemptError::UrlRefused | AttemptError::AddressRefused => "address_refused",
        AttemptError::ConnectionRefused
        | AttemptError::Unreachable
        | AttemptError::ConnectTimedOut
        | AttemptError::Connection => "connection",
        AttemptError::NotTls
        | AttemptError::TlsVersion
        | AttemptError::CertificateName
        | AttemptError::CertificateUntrusted
        | AttemptError::CertificateExpired
        | AttemptError::Tls
        | AttemptError::TlsTimedOut => "tls",
        AttemptError::AnswerTooLarge | AttemptError::AnswerMalformed => "no_answer",
        AttemptError::TimedOut => "timed_out",
        AttemptError::Secret => "secret",
        AttemptError::Status => "other",
    }
}

impl fmt::Debug for CountedOutbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CountedOutbox").finish_non_exhaustive()
    }
}
