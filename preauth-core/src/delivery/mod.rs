//! Who receives an event, when an attempt is repeated, and when an endpoint is slow or given up.

mod pace;
mod recipients;
mod schedule;

pub use pace::{SLOW_ATTEMPT, is_slow};
pub use recipients::recipients;
pub use schedule::{ENDPOINT_PATIENCE_DAYS, RETRY_DELAYS_SECONDS, endpoint_is_lost, retry_at};
