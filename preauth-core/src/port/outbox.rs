//! The outbox of deliveries: written by the commit, claimed under a lease, finished with a verdict.

use std::num::NonZeroU32;

use async_trait::async_trait;
use chrono::TimeDelta;

use crate::value::{EndpointId, Timestamp};

use super::{AttemptError, Leased, Unavailable};

/// The dispatcher's side of a host.
///
/// Due times are the service's; a lease ends by the host's own clock, so that a stalled service cannot keep
/// its deliveries.
#[async_trait]
pub trait Outbox: Send + Sync {
    /// Leases deliveries that are due. Endpoints with the fewest deliveries under way come first, then the
    /// earliest due time, so that no endpoint's backlog delays another's first delivery. Deliveries to slow
    /// endpoints come after all others, and are at most `claim.slow_limit`.
    ///
    /// No delivery of a paused endpoint is leased. An endpoint has at most `claim.per_endpoint` deliveries
    /// under valid leases, a slow one at most `claim.per_slow_endpoint`, any other of `claim.answering` at
    /// most `claim.per_answering_endpoint`; leases from earlier claims and from commits' handovers count.
    async fn claim(&self, claim: &Claim) -> Result<Claimed, Unavailable>;

    /// Records one attempt and its consequences, and ends the lease.
    ///
    /// A slow attempt ([`is_slow`](crate::delivery::is_slow)) makes its endpoint slow. An attempt that is
    /// not slow ends that, if it arrived or if the endpoint was already slow when it was leased.
    ///
    /// Returns `false` and records nothing when the lease is no longer the delivery's newest: the stalled
    /// holder of an old lease must not overwrite a newer result.
    async fn finish(
        &self,
        leased: &Leased,
        attempt: &Attempt,
        verdict: Verdict,
    ) -> Result<bool, Unavailable>;

    /// Marks endpoints as slow, each of which has an attempt under way for at least
    /// [`SLOW_ATTEMPT`](crate::delivery::SLOW_ATTEMPT). When the attempt ends, [`finish`](Self::finish)
    /// decides again.
    async fn note_slow(&self, endpoints: &[EndpointId]) -> Result<(), Unavailable>;

    /// Ends a lease without an attempt: the delivery is due again at once.
    async fn release(&self, leased: &Leased) -> Result<(), Unavailable>;

    /// The earliest moment at which a delivery of an active endpoint is due, for timers.
    async fn next_due(&self) -> Result<Option<Timestamp>, Unavailable>;

    /// Repairs what a clock leaves behind that was ahead for a while and came back, for at most `limit`
    /// deliveries, and returns their number; fewer than `limit` means that none is left.
    ///
    /// A pending delivery of an active endpoint that is due more than
    /// [`MAX_RETRY_DELAY`](crate::delivery::MAX_RETRY_DELAY) after `now` becomes due `now`. A lease that
    /// ends more than [`MAX_LEASE`](crate::delivery::MAX_LEASE) after both `now` and the host's clock ends at
    /// once: a clock that is behind must not end a running lease. It stays the delivery's newest. Nothing
    /// else changes.
    async fn bring_forward(&self, now: Timestamp, limit: u32) -> Result<u64, Unavailable>;
}

/// How much to lease.
#[derive(Clone, Debug)]
pub struct Claim {
    /// The service's clock: deliveries due until now are leased.
    pub now: Timestamp,
    /// How long the lease lasts, by the host's clock; at most [`MAX_LEASE`](crate::delivery::MAX_LEASE).
    pub lease: TimeDelta,
    /// Maximum number of deliveries.
    pub limit: u32,
    /// Maximum number of them to slow endpoints.
    pub slow_limit: u32,
    /// Maximum number under way to one endpoint.
    pub per_endpoint: NonZeroU32,
    /// Maximum number under way to a slow one.
    pub per_slow_endpoint: NonZeroU32,
    /// Endpoints that answer while others may hang.
    pub answering: Vec<EndpointId>,
    /// Maximum number under way to one of these that is not slow; not below `per_endpoint`.
    pub per_answering_endpoint: NonZeroU32,
}

/// The result of a claim.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claimed {
    /// The leased deliveries, in the order of the leases.
    pub leased: Vec<Leased>,
    /// The endpoints that have reached the claim's limit of valid leases, held by any process, while more
    /// deliveries are due there: those wait until one of the leases ends. An endpoint whose last place this
    /// claim took may be listed although no more deliveries are due there.
    pub full: Vec<EndpointId>,
}

/// One attempt, as the history records it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// When it began.
    pub at: Timestamp,
    /// How long the whole exchange took.
    pub duration: TimeDelta,
    /// The response status, if there was a response.
    pub http_status: Option<u16>,
    /// Why there was no response, or why the attempt counts as a failure.
    pub error: Option<AttemptError>,
    /// The first 1,024 bytes of the response body: untrusted bytes, not necessarily text.
    pub response_body: Vec<u8>,
}

/// The consequence of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The delivery arrived.
    Delivered,
    /// The delivery is retried.
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
