//! OpenTelemetry traces: of a request, of the event that it causes, and of the attempts to deliver it.
//!
//! A request continues the trace of its caller. An event has a trace of its own, which is linked with the
//! request's, and whose id is the event's. So any instance adds an attempt to it, days later, and nothing
//! is stored for it.

#[cfg(not(feature = "otlp"))]
mod absent;
#[cfg(feature = "otlp")]
mod collector;
#[cfg(feature = "otlp")]
mod context;
#[cfg(feature = "otlp")]
mod events;
#[cfg(feature = "otlp")]
mod requests;
#[cfg(feature = "otlp")]
mod span;

use url::Url;

#[cfg(not(feature = "otlp"))]
pub(crate) use absent::TracedCommit;
#[cfg(not(feature = "otlp"))]
pub use absent::{Traces, TracesError};
#[cfg(feature = "otlp")]
pub use collector::{Traces, TracesError};
#[cfg(feature = "otlp")]
pub(crate) use events::TracedCommit;

/// Where spans are sent, and how many traces are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceSettings {
    /// The collector's address for OTLP over HTTP, path included.
    pub endpoint: Url,
    /// Of a hundred traces, those that are sent.
    pub percent: u32,
}
