//! Hands deliveries directly from a commit to the dispatcher of the same process, leased by the commit.

use std::fmt;
use std::sync::Arc;

use chrono::TimeDelta;

use crate::value::{EndpointId, Timestamp};

use super::Leased;

/// Takes deliveries over from the commits that create them, so that they need no claim.
pub trait Handover: Send + Sync {
    /// Room for one attempt to the endpoint; `None` leaves the delivery to a claim.
    fn reserve(&self, endpoint: EndpointId) -> Option<Box<dyn Room>>;
}

/// Room for one attempt, given back when it is dropped.
pub trait Room: Send + Sync {
    /// How long the lease lasts, by the host's clock.
    fn lease(&self) -> TimeDelta;

    /// The service's time. A commit may be written seconds after it was decided, and its delivery is signed with
    /// the secrets that are in force at the write.
    fn now(&self) -> Timestamp;

    /// Takes the delivery over; its commit and its lease are durable.
    fn take(self: Box<Self>, leased: Leased);
}

/// The recipient of the deliveries that a commit hands over. By default there is none, and each delivery
/// waits for a claim.
#[derive(Clone, Default)]
pub struct Intake(Option<Arc<dyn Handover>>);

impl Intake {
    /// Offers the deliveries to `handover`.
    #[must_use]
    pub fn new(handover: Arc<dyn Handover>) -> Self {
        Self(Some(handover))
    }

    /// Room for one attempt to the endpoint; `None` leaves the delivery to a claim.
    #[must_use]
    pub fn reserve(&self, endpoint: EndpointId) -> Option<Box<dyn Room>> {
        self.0.as_ref()?.reserve(endpoint)
    }
}

impl PartialEq for Intake {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (None, None) => true,
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }
}

impl Eq for Intake {}

impl fmt::Debug for Intake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Intake").field(&self.0.is_some()).finish()
    }
}
