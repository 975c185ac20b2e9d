//! Resending the deliveries of a range of time, the delivered ones too: for a receiver that lost its database.

use preauth_core::text_enum;
use preauth_core::value::{CompanyId, DeliveryId, EnumSet, EventType, Timestamp};
use uuid::Uuid;

text_enum! {
    /// How a delivery ended.
    pub enum EndedStatus, "status of an ended delivery" {
        /// It arrived.
        Delivered => "DELIVERED",
        /// Its attempts are used up.
        Failed => "FAILED",
    }
}

/// Which deliveries of a head office to resend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResendRange {
    /// The head office whose endpoint they go to.
    pub company: CompanyId,
    /// Only events that happened at this moment or later.
    pub since: Timestamp,
    /// Only events that happened before this moment.
    pub until: Timestamp,
    /// Only events of these types; `None` for all, also those of a newer version.
    pub event_types: Option<EnumSet<EventType>>,
    /// Only deliveries that ended so.
    pub statuses: EnumSet<EndedStatus>,
    /// The moment of the first request: a delivery that ended later arrived, or was resent, in the meantime.
    pub began_at: Timestamp,
}

/// A place in the order of a head office's deliveries, by which the next request goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResendPlace {
    /// When the last event before it happened.
    pub created_at: Timestamp,
    /// The last delivery before it.
    pub delivery: DeliveryId,
}

impl ResendPlace {
    /// The place before everything that happened at this moment or later.
    #[must_use]
    pub const fn beginning_at(moment: Timestamp) -> Self {
        Self {
            created_at: moment,
            delivery: DeliveryId::new(Uuid::nil()),
        }
    }
}

/// What one step found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resendable {
    /// Those that can be queued again.
    pub deliveries: Vec<DeliveryId>,
    /// How many of them wait until their endpoint is resumed.
    pub paused: u64,
    /// How many cannot be queued, because their endpoint was removed.
    pub endpoint_removed: u64,
    /// The place after what was read; `None` when nothing is left.
    pub next: Option<ResendPlace>,
}

/// What one request queued, or counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resent {
    /// Deliveries that are due again, or would be.
    pub count: u64,
    /// How many of them wait until their endpoint is resumed.
    pub paused: u64,
    /// How many were left out, because their endpoint was removed.
    pub endpoint_removed: u64,
    /// Where the next request goes on; `None` when nothing is left.
    pub next: Option<ResendPlace>,
}
