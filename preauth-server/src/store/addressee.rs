//! The endpoint of a delivery that its commit leases.

use preauth_core::port::{Commit, Leased, NewDelivery, Trigger};
use preauth_core::value::Timestamp;

/// The properties of an endpoint that the sender of a delivery needs.
pub(super) struct Addressee {
    pub(super) url: String,
    pub(super) sealed_secrets: Vec<Vec<u8>>,
    pub(super) healthy_at: Timestamp,
}

impl Addressee {
    /// The first attempt of a delivery to this endpoint, which must not be slow and must have room.
    pub(super) fn leased(&self, commit: &Commit, delivery: &NewDelivery, token: i64) -> Leased {
        let event = &commit.event;
        Leased {
            delivery: delivery.id,
            token,
            event: event.id,
            event_type: event.event_type.as_str().to_owned(),
            body: event.body.clone(),
            endpoint: delivery.endpoint,
            url: self.url.clone(),
            sealed_secrets: self.sealed_secrets.clone(),
            attempts_made: 0,
            endpoint_healthy_at: self.healthy_at,
            endpoint_is_slow: false,
            trigger: Trigger::Schedule,
        }
    }
}
