//! Moves a sandbox's clock.

use preauth_core::delivery::RETRY_DELAYS_SECONDS;
use serde_json::json;

use crate::{Answer, Sandbox};

/// The path of the clock.
pub const CLOCK: &str = "/api/platform/v1/sandbox/clock";
/// In seconds.
pub const DAY: u64 = 86_400;

/// Advances the clock by `seconds`.
pub async fn advance(sandbox: &Sandbox, seconds: u64) -> Answer {
    let body = json!({"advanceSeconds": seconds});
    let answer = sandbox.platform().post_json(CLOCK, &body).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer
}

/// Seconds that suffice from each failed attempt to the next one: jitter adds at most a tenth.
pub fn retry_delays() -> impl Iterator<Item = u64> {
    let delays = RETRY_DELAYS_SECONDS.into_iter();
    delays.map(|seconds| seconds.unsigned_abs().saturating_mul(11).div_ceil(10))
}
