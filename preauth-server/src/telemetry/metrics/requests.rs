//! Requests to all listeners, counted where each is logged.

use chrono::TimeDelta;
use preauth_core::ErrorCode;
use prometheus::{HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec};

use super::family::{Families, class, seconds};

/// The listeners, as values of the label `api`.
const APIS: [&str; 3] = ["integration", "platform", "portal"];
/// The value for all unknown paths and methods.
const UNMATCHED: &str = "unmatched";

/// Counts requests.
#[derive(Clone, Debug)]
pub struct RequestMetrics {
    in_flight: IntGaugeVec,
    ended: IntCounterVec,
    durations: HistogramVec,
    refusals: IntCounterVec,
    rate_limited: IntCounterVec,
    replays: IntCounter,
}

/// A request that was answered.
#[derive(Clone, Copy, Debug)]
pub struct EndedRequest<'a> {
    /// Its listener.
    pub api: &'static str,
    /// The template of its path, if an endpoint matched.
    pub route: Option<&'a str>,
    /// One of the methods of HTTP, or `OTHER`.
    pub method: &'a str,
    /// The status of the answer.
    pub status: u16,
    /// The duration until the answer.
    pub took: TimeDelta,
    /// The code, if it was refused.
    pub code: Option<ErrorCode>,
    /// The limit that refused it, if one did.
    pub limit: Option<Limit>,
    /// Whether the answer is a replay of an earlier one.
    pub is_replay: bool,
}

/// The limits of request rates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The window of an API key.
    Key,
    /// The window of an address without a valid key.
    Address,
    /// The requests in progress of a head office.
    HeadOffice,
}

/// A request in progress; dropping it ends it.
#[derive(Debug)]
pub struct InFlight(IntGauge);

impl RequestMetrics {
    pub(super) fn new(families: &Families<'_>) -> Self {
        let metrics = Self {
            in_flight: families.wholes(
                "preauth_http_requests_in_flight",
                "Requests that are being answered now.",
                &["api"],
            ),
            ended: families.counters(
                "preauth_http_requests_total",
                "Requests answered, by route template, method and class of status.",
                &["api", "route", "method", "status"],
            ),
            durations: families.durations(
                "preauth_http_request_duration_seconds",
                "Time from a request's head to its answer.",
                &["api", "route", "method"],
            ),
            refusals: families.counters(
                "preauth_refusals_total",
                "Requests refused, by error code.",
                &["api", "code"],
            ),
            rate_limited: families.counters(
                "preauth_rate_limited_requests_total",
                "Requests refused because of their number: in the window of an API key or of an address without a valid key, or in progress for a head office.",
                &["limit"],
            ),
            replays: families.counter(
                "preauth_idempotent_replays_total",
                "Creates answered with the remembered answer of their idempotency key.",
            ),
        };
        metrics.begin_at_zero();
        metrics
    }

    /// Records the beginning of a request.
    #[must_use]
    pub fn begin(&self, api: &'static str) -> InFlight {
        let in_flight = self.in_flight.with_label_values(&[api]);
        in_flight.inc();
        InFlight(in_flight)
    }

    /// Records an answer.
    pub fn end(&self, request: &EndedRequest<'_>) {
        let route = request.route.unwrap_or(UNMATCHED);
        let (api, method) = (request.api, request.method);
        self.ended
            .with_label_values(&[api, route, method, class(request.status)])
            .inc();
        self.durations
            .with_label_values(&[api, route, method])
            .observe(seconds(request.took));
        if let Some(code) = request.code {
            self.refusals.with_label_values(&[api, code.as_str()]).inc();
        }
        if let Some(limit) = request.limit {
            self.rate_limited.with_label_values(&[limit.label()]).inc();
        }
        if request.is_replay {
            self.replays.inc();
        }
    }

    /// A series that exists from the start shows its first increase.
    fn begin_at_zero(&self) {
        for api in APIS {
            let _ = self.in_flight.with_label_values(&[api]);
            for code in ErrorCode::ALL {
                let _ = self.refusals.with_label_values(&[api, code.as_str()]);
            }
        }
        for limit in [Limit::Key, Limit::Address, Limit::HeadOffice] {
            let _ = self.rate_limited.with_label_values(&[limit.label()]);
        }
    }
}

impl Limit {
    const fn label(self) -> &'static str {
        match self {
            Self::Key => "key",
            Self::Address => "address",
            Self::HeadOffice => "head_office",
        }
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.dec();
    }
}
