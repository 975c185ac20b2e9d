//! Events recorded by a newer build: this one does not know their type, and sends them unchanged.

use preauth_core::value::{EventId, EventType};

/// An event type that this build does not know.
pub(crate) const UNKNOWN_TYPE: &str = "anticipation.hologram";

/// One in this many events is a newer build's.
const EVENTS_TO_ONE: u128 = 16;

/// The text of an event's type in the database.
pub(crate) fn stored_type(event: EventId, known: EventType) -> &'static str {
    if is_of_newer_build(event) {
        UNKNOWN_TYPE
    } else {
        known.as_str()
    }
}

/// Whether a newer build recorded it; its id decides.
pub(crate) fn is_of_newer_build(event: EventId) -> bool {
    event.as_uuid().as_u128().is_multiple_of(EVENTS_TO_ONE)
}
