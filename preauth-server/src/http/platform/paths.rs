//! Paths of the private listener.

/// Liveness: the process works. No token is needed.
pub const LIVEZ: &str = "/livez";
/// Readiness: requests can be served. No token is needed.
pub const READYZ: &str = "/readyz";
/// Metrics for Prometheus. No token is needed.
pub const METRICS: &str = "/metrics";
/// Prefix of every path of this API.
pub const PREFIX: &str = "/api/platform/v1";
