//! What a decision knows of a webhook endpoint.

use crate::value::{CompanyId, EndpointId, EventTypeSet};

/// An endpoint's interest in events: whose it is, and the types that it chose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscription {
    /// The endpoint that a delivery is addressed to.
    pub endpoint: EndpointId,
    /// The head office that registered it.
    pub head_office: CompanyId,
    /// The event types chosen at registration.
    pub events: EventTypeSet,
}
