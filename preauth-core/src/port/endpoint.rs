//! Webhook endpoints, as far as decisions need them.

use crate::value::{CompanyId, EndpointId, EventTypeSet};

/// An endpoint's subscription: its owner, and the event types that it chose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscription {
    /// The endpoint that a delivery is addressed to.
    pub endpoint: EndpointId,
    /// The head office that registered it.
    pub head_office: CompanyId,
    /// The event types chosen at registration.
    pub events: EventTypeSet,
}
