//! Rules of webhook delivery: recipients of an event, retry schedule, slow endpoints and automatic pauses.

mod pace;
mod recipients;
mod schedule;

pub use pace::{SLOW_ATTEMPT, is_slow};
pub use recipients::recipients;
pub use schedule::{
    ENDPOINT_PATIENCE_DAYS, MAX_LEASE, MAX_RETRY_DELAY, RETRY_DELAYS_SECONDS, endpoint_is_lost,
    retry_at,
};
