//! Counters and measurements for Prometheus. `docs/metrics.md` describes each of them.
//!
//! Labels come from closed sets only: route templates, codes, outcomes. A text chosen by a caller,
//! a receiver or a company never becomes a label.
//!
//! The registry is passed as an argument, not global, so that several servers in one process count
//! separately. Requests are counted where they are logged; everything else by decorators of the
//! ports.

mod audit_log;
mod commits;
mod deliveries;
mod family;
mod mails;
mod process;
mod requests;

use preauth_core::value::Timestamp;
use prometheus::proto::MetricFamily;
use prometheus::{Registry, TextEncoder};

use crate::clock::{Clock, SystemClock};

pub use audit_log::AuditLogMetrics;
pub use commits::{CommitMetrics, CountedStore};
pub use deliveries::{CountedOutbox, DeliveryMetrics};
pub use family::Families;
pub use mails::{CountedMails, MailMetrics};
pub use process::process;
pub use requests::{EndedRequest, Limit, RequestMetrics};

/// The content type of [`render`]'s format.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The counters of one server; clones share them.
#[derive(Clone, Debug)]
pub struct Metrics {
    registry: Registry,
    started_at: Timestamp,
    /// Of both listeners.
    pub requests: RequestMetrics,
    /// Of the write side.
    pub commits: CommitMetrics,
    /// Of webhooks.
    pub deliveries: DeliveryMetrics,
    /// Of mails.
    pub mails: MailMetrics,
    /// Of the audit log's seals.
    pub audit_log: AuditLogMetrics,
}

impl Metrics {
    /// All counters, at zero.
    #[must_use]
    pub fn new() -> Self {
        let registry = Registry::new();
        let families = Families::of(&registry);
        Self {
            requests: RequestMetrics::new(&families),
            commits: CommitMetrics::new(&families),
            deliveries: DeliveryMetrics::new(&families),
            mails: MailMetrics::new(&families),
            audit_log: AuditLogMetrics::new(&families),
            registry,
            started_at: SystemClock.now(),
        }
    }

    /// When counting began, by the machine's clock.
    #[must_use]
    pub const fn started_at(&self) -> Timestamp {
        self.started_at
    }

    /// The current values.
    #[must_use]
    pub fn gather(&self) -> Vec<MetricFamily> {
        self.registry.gather()
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

/// Families in Prometheus' text format.
#[must_use]
pub fn render(families: &[MetricFamily]) -> String {
    // Fails only for a family without a metric; the gathered families have some.
    TextEncoder::new()
        .encode_to_string(families)
        .unwrap_or_default()
}
