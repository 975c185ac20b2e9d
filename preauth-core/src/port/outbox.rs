//! Deliveries on their way: written by the commit, claimed under a lease, finished with a verdict.

use std::num::NonZeroU32;

use async_trait::async_trait;
use chrono::TimeDelta;

use crate::value::{EndpointId, Timestamp};

use super::{AttemptError, Leased, Unavailable};

/// The dispatcher's side of a host.
///
/// Due times are the service's; a lease ends by the host's own clock, so that a stalled service
/// cannot keep what it holds.
#[async_trait]
pub trait Outbox: Send + Sync {
    /// Leases deliveries that are due: first of the endpoints that have least under way, then by
    /// due time, so that no endpoint's backlog stands before another's first delivery. Those of
    /// slow endpoints come after all others, and are `claim.slow_limit` at most.
    ///
    /// Nothing of a paused endpoint is given out. No endpoint has more than `claim.per_endpoint`
    /// deliveries under live leases, a slow one no more than `claim.per_slow_endpoint`, those given
    /// out before included, also those that commits handed over.
    async fn claim(&self, claim: &Claim) -> Result<Claimed, Unavailable>;

    /// Records one attempt and what follows from it, and ends the lease.
    ///
    /// An endpoint becomes slow by a slow attempt ([`is_slow`](crate::delivery::is_slow)). It is
    /// slow no longer after one that is not, if that arrived, or if the endpoint was slow when it
    /// was leased.
    ///
    /// `false`, and nothing recorded, when the lease is no longer the delivery's newest: the
    /// stalled holder of an old lease must not overwrite a newer mark.
    async fn finish(
        &self,
        leased: &Leased,
        attempt: &Attempt,
        verdict: Verdict,
    ) -> Result<bool, Unavailable>;

    /// Makes endpoints slow because an attempt to each has been under way for
    /// [that long](crate::delivery::SLOW_ATTEMPT). When attempts end, [`finish`](Self::finish) decides again.
    async fn note_slow(&self, endpoints: &[EndpointId]) -> Result<(), Unavailable>;

    /// Ends a lease without an attempt: the delivery is due again at once.
    async fn release(&self, leased: &Leased) -> Result<(), Unavailable>;

    /// The earliest moment at which a delivery of an active endpoint is due, for timers.
    async fn next_due(&self) -> Result<Option<Timestamp>, Unavailable>;
}

/// How much to lease.
#[derive(Clone, Copy, Debug)]
pub struct Claim {
    /// The service's clock: what is due by now.
    pub now: Timestamp,
    /// How long the lease lasts, by the host's clock.
    pub lease: TimeDelta,
    /// Maximum number of deliveries.
    pub limit: u32,
    /// Maximum number of them to slow endpoints.
    pub slow_limit: u32,
    /// Maximum number under way to one endpoint.
    pub per_endpoint: NonZeroU32,
    /// Maximum number under way to a slow one.
    pub per_slow_endpoint: NonZeroU32,
}

/// What a claim found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claimed {
    /// What it leased, in the order of the leases.
    pub leased: Vec<Leased>,
    /// The endpoints that have as many deliveries under live leases as the claim allows, whoever
    /// holds them, while others are due there: these wait until one of the leases ends. An endpoint
    /// of which the claim took the last place may be among them although nothing is left there.
    pub full: Vec<EndpointId>,
}

/// One attempt, as the history keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// When it began.
    pub at: Timestamp,
    /// How long the whole exchange took.
    pub duration: TimeDelta,
    /// The answer's status, if there was an answer.
    pub http_status: Option<u16>,
    /// Why there was none, or why it counts as a failure.
    pub error: Option<AttemptError>,
    /// The first 1,024 bytes of the answer's body: a stranger's bytes, not text.
    pub response_body: Vec<u8>,
}

/// What follows from an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It arrived.
    Delivered,
    /// It is tried again.
    RetryAt {
        /// When it is due again.
        at: Timestamp,
        /// Whether its endpoint is paused, because nothing has arrived there for days.
        pause_endpoint: bool,
    },
    /// The schedule is used up.
    Failed {
        /// Whether its endpoint is paused, because nothing has arrived there for days.
        pause_endpoint: bool,
    },
}
