//! An attempt of a delivery that ended.

use preauth_core::delivery::is_slow;
use preauth_core::port::{Attempt, Leased, Trigger, Verdict};
use preauth_core::value::{DeliveryId, EndpointId, Timestamp};

/// An attempt under a lease, and its consequences.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) delivery: DeliveryId,
    pub(super) token: i64,
    pub(super) endpoint: EndpointId,
    /// Its state when the delivery was leased.
    endpoint_is_slow: bool,
    /// Its last success, or its registration, when the delivery was leased.
    pub(super) endpoint_healthy_at: Timestamp,
    pub(super) trigger: Trigger,
    pub(super) attempt: Attempt,
    pub(super) verdict: Verdict,
}

impl Finished {
    pub(super) fn new(leased: &Leased, attempt: &Attempt, verdict: Verdict) -> Self {
        Self {
            delivery: leased.delivery,
            token: leased.token,
            endpoint: leased.endpoint,
            endpoint_is_slow: leased.endpoint_is_slow,
            endpoint_healthy_at: leased.endpoint_healthy_at,
            trigger: leased.trigger,
            attempt: attempt.clone(),
            verdict,
        }
    }

    /// The delivery's status now, and when it is attempted next.
    pub(super) const fn status(&self) -> (&'static str, Option<Timestamp>) {
        match self.verdict {
            Verdict::Delivered => ("DELIVERED", None),
            Verdict::RetryAt { at, .. } => ("PENDING", Some(at)),
            Verdict::Failed { .. } => ("FAILED", None),
        }
    }

    /// Whether the endpoint is slow now; `None` if the attempt does not show it.
    pub(super) fn pace(&self) -> Option<bool> {
        let is_slow = is_slow(self.attempt.duration);
        let is_shown = is_slow || self.endpoint_is_slow || self.verdict == Verdict::Delivered;
        is_shown.then_some(is_slow)
    }

    /// Whether its endpoint is paused as unreachable.
    pub(super) const fn pauses(&self) -> bool {
        match self.verdict {
            Verdict::Delivered => false,
            Verdict::RetryAt { pause_endpoint, .. } | Verdict::Failed { pause_endpoint } => {
                pause_endpoint
            }
        }
    }
}
