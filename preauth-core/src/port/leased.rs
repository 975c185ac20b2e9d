//! A delivery that somebody may attempt now.

use crate::text_enum;
use crate::value::{DeliveryId, EndpointId, EventId, Timestamp};

/// One delivery under a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leased {
    /// The delivery.
    pub delivery: DeliveryId,
    /// Distinguishes this lease from every other of the same delivery.
    pub token: i64,
    /// The event that is delivered.
    pub event: EventId,
    /// The text of its type, which a newer version may have recorded: it is sent as it stands.
    pub event_type: String,
    /// The body to send, as frozen.
    pub body: String,
    /// Where it goes.
    pub endpoint: EndpointId,
    /// The endpoint's address now.
    pub url: String,
    /// The secrets in force, newest first, sealed as the host keeps them.
    pub sealed_secrets: Vec<Vec<u8>>,
    /// Attempts made before this one, since the delivery was made or last resent.
    pub attempts_made: u32,
    /// The endpoint's last success over all its deliveries, or else its registration.
    pub endpoint_healthy_at: Timestamp,
    /// Whether the endpoint is slow.
    pub endpoint_is_slow: bool,
    /// Whether the schedule or a person asked for this attempt.
    pub trigger: Trigger,
}

text_enum! {
    /// What caused an attempt.
    pub enum Trigger, "trigger" {
        /// The schedule.
        Schedule => "SCHEDULE",
        /// A person, in the platform.
        Resend => "RESEND",
    }
}
