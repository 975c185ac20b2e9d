//! Creates and registers metric families, all in one place.

use std::time::Duration;

use chrono::TimeDelta;
use prometheus::core::Collector;
use prometheus::{
    Counter, Gauge, GaugeVec, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge,
    IntGaugeVec, Opts, Registry,
};

/// From a fast read to the longest timeout, in seconds.
const BUCKETS_SECONDS: [f64; 14] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0,
];

/// Creates families in a registry. Their names and labels are constants, each used once.
#[derive(Debug)]
pub struct Families<'a>(&'a Registry);

impl<'a> Families<'a> {
    /// Families that `registry` will gather.
    #[must_use]
    pub const fn of(registry: &'a Registry) -> Self {
        Self(registry)
    }

    /// A counter.
    #[must_use]
    pub fn counter(&self, name: &str, help: &str) -> IntCounter {
        self.register(IntCounter::new(name, help))
    }

    /// A counter of seconds.
    #[must_use]
    pub fn seconds_spent(&self, name: &str, help: &str) -> Counter {
        self.register(Counter::new(name, help))
    }

    /// Counters, one per combination of labels.
    #[must_use]
    pub fn counters(&self, name: &str, help: &str, labels: &[&str]) -> IntCounterVec {
        self.register(IntCounterVec::new(Opts::new(name, help), labels))
    }

    /// A whole number.
    #[must_use]
    pub fn whole(&self, name: &str, help: &str) -> IntGauge {
        self.register(IntGauge::new(name, help))
    }

    /// Whole numbers, one per combination of labels.
    #[must_use]
    pub fn wholes(&self, name: &str, help: &str, labels: &[&str]) -> IntGaugeVec {
        self.register(IntGaugeVec::new(Opts::new(name, help), labels))
    }

    /// A number of seconds.
    #[must_use]
    pub fn seconds(&self, name: &str, help: &str) -> Gauge {
        self.register(Gauge::new(name, help))
    }

    /// Numbers of seconds, one per combination of labels.
    #[must_use]
    pub fn gauges(&self, name: &str, help: &str, labels: &[&str]) -> GaugeVec {
        self.register(GaugeVec::new(Opts::new(name, help), labels))
    }

    /// Durations, one per combination of labels.
    #[must_use]
    pub fn durations(&self, name: &str, help: &str, labels: &[&str]) -> HistogramVec {
        let options = HistogramOpts::new(name, help).buckets(BUCKETS_SECONDS.to_vec());
        self.register(HistogramVec::new(options, labels))
    }

    #[expect(
        clippy::expect_used,
        reason = "fails for a bad or repeated name only, and names are constants that every start registers"
    )]
    fn register<C: Collector + Clone + 'static>(&self, made: prometheus::Result<C>) -> C {
        let made = made.expect("the name is well formed");
        let registered = self.0.register(Box::new(made.clone()));
        registered.expect("the name is used once");
        made
    }
}

/// In seconds, as Prometheus counts; zero for a negative duration, after a clock was set.
pub(super) fn seconds(duration: TimeDelta) -> f64 {
    duration.to_std().unwrap_or(Duration::ZERO).as_secs_f64()
}

/// The class of an HTTP status.
pub(super) const fn class(status: u16) -> &'static str {
    match status {
        100..=199 => "1xx",
        200..=299 => "2xx",
        300..=399 => "3xx",
        400..=499 => "4xx",
        500..=599 => "5xx",
        _ => "other",
    }
}
