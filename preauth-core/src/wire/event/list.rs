//! Events on request.

use serde::{Deserialize, Serialize};

use super::RawEventEnvelope;

/// Maximum number of events of one answer.
pub const MAX_EVENTS: u32 = 100;
/// Maximum number of seconds that an answer waits for the next event.
pub const MAX_EVENT_WAIT_SECONDS: u32 = 30;

/// The answer to a request for events.
///
/// [GET /events](https://example.com/preauth/blob/main/docs/reference.md#get-apiintegrationv1events).
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub struct EventList {
    /// Oldest first.
    pub data: Vec<RawEventEnvelope>,
    /// Where to go on.
    pub pagination: EventPagination,
}

/// Where to go on after some events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub struct EventPagination {
    /// The cursor after these events, for the next request.
    pub next: String,
    /// Whether there are more events already.
    pub has_more: bool,
}

impl EventPagination {
    /// The pagination of an answer.
    #[must_use]
    pub const fn new(next: String, has_more: bool) -> Self {
        Self { next, has_more }
    }
}
