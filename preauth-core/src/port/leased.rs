//! Deliveries under a lease.

use crate::text_enum;
use crate::value::{DeliveryId, EndpointId, EventId, Timestamp};

/// One delivery under a lease, which its holder may attempt now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leased {
    /// The delivery.
    pub delivery: DeliveryId,
    /// Distinguishes this lease from every other of the same delivery.
    pub token: i64,
    /// The event that is delivered.
    pub event: EventId,
    /// The name of its type, sent as stored: a newer version of the software may have recorded it.
    pub event_type: String,
    /// The body to send, as frozen.
    pub body: String,
    /// The endpoint that receives it.
    pub endpoint: EndpointId,
    /// The endpoint's current URL.
    pub url: String,
    /// The secrets in force, newest first, sealed as the host stores them.
    pub sealed_secrets: Vec<Vec<u8>>,
    /// Attempts made before this one, since the delivery was created or last resent.
    pub attempts_made: u32,
    /// When the endpoint last had a success on any delivery, or else when it was registered.
    pub endpoint_healthy_at: Timestamp,
    /// Whether the endpoint is slow.
    pub endpoint_is_slow: bool,
    /// Whether the schedule or a person triggered this attempt.
    pub trigger: Trigger,
}

text_enum! {
    /// The cause of an attempt.
    pub enum Trigger, "trigger" {
        /// The schedule.
        Schedule => "SCHEDULE",
        /// A person, in the platform.
        Resend => "RESEND",
    }
}
