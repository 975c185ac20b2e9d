//! Helpers of the cases about deliveries: claiming and finishing.

use std::num::NonZeroU32;

use chrono::TimeDelta;

use crate::memory::DeliveryRecord;
use crate::port::{Attempt, AttemptError, Claim, Leased, Verdict};
use crate::value::{EventId, Timestamp};

use super::Host;
use super::scene::Scene;

pub(super) const LEASE: TimeDelta = TimeDelta::seconds(30);

impl Scene<'_> {
    /// Creates an operation, and so a delivery to each endpoint; returns the event.
    pub(super) async fn post(&self) -> EventId {
        let operation = self.begin(&self.offer()).await;
        self.history(operation.id).await[0].id
    }

    /// Leases all deliveries that are due at `now`.
    pub(super) async fn claim_at(&self, now: Timestamp) -> Vec<Leased> {
        let claimed = self.host.outbox().claim(&claim(now, 1_000, 1_000)).await;
        claimed.unwrap().leased
    }

    /// Leases the one delivery that is due now.
    pub(super) async fn claim_one(&self) -> Leased {
        let mut claimed = self.claim_at(self.now).await;
        assert_eq!(claimed.len(), 1, "{claimed:?}");
        claimed.remove(0)
    }

    /// Finishes a lease with a retry that is due at once, after an attempt of this duration.
    pub(super) async fn refuse_after(&self, leased: &Leased, duration: TimeDelta) {
        let attempt = Attempt {
            duration,
            ..refused(self.now)
        };
        let again = Verdict::RetryAt {
            at: self.now,
            pause_endpoint: false,
        };
        let finished = self.host.outbox().finish(leased, &attempt, again).await;
        assert!(finished.unwrap());
    }

    /// Finishes a lease whose attempt began now; returns whether it was recorded.
    pub(super) async fn finish(&self, leased: &Leased, verdict: Verdict) -> bool {
        let attempt = attempt_of(verdict, self.now);
        let finished = self.host.outbox().finish(leased, &attempt, verdict).await;
        finished.unwrap()
    }

    pub(super) async fn next_due(&self) -> Option<Timestamp> {
        self.host.outbox().next_due().await.unwrap()
    }
}

pub(super) fn claim(now: Timestamp, limit: u32, per_endpoint: u32) -> Claim {
    Claim {
        now,
        lease: LEASE,
        limit,
        slow_limit: limit,
        per_endpoint: NonZeroU32::new(per_endpoint).unwrap(),
        per_slow_endpoint: NonZeroU32::new(per_endpoint).unwrap(),
        answering: Vec::new(),
        per_answering_endpoint: NonZeroU32::new(per_endpoint).unwrap(),
    }
}

/// The attempt that leads to this verdict.
pub(super) fn attempt_of(verdict: Verdict, at: Timestamp) -> Attempt {
    match verdict {
        Verdict::Delivered => arrived(at),
        Verdict::RetryAt { .. } | Verdict::Failed { .. } => refused(at),
    }
}

pub(super) fn arrived(at: Timestamp) -> Attempt {
    Attempt {
        at,
        duration: TimeDelta::milliseconds(123),
        http_status: Some(204),
        error: None,
        response_body: Vec::new(),
    }
}

pub(super) fn refused(at: Timestamp) -> Attempt {
    Attempt {
        at,
        duration: TimeDelta::milliseconds(9_999),
        http_status: Some(503),
        error: Some(AttemptError::Status),
        // Neither UTF-8 nor free of zero bytes, as a receiver may send it.
        response_body: vec![0, 0xFF, 0xFE, b'<', 0xC3],
    }
}

/// The only delivery of an event.
pub(super) async fn delivery_of(host: &dyn Host, event: EventId) -> DeliveryRecord {
    let mut deliveries = host.deliveries(event).await;
    assert_eq!(deliveries.len(), 1, "{deliveries:?}");
    deliveries.remove(0)
}
