//! Events that a newer build recorded: this one does not know their type, and sends them as they stand.

use preauth_core::value::{EventId, EventType};

/// A type of events that this build does not know.
pub(crate) const UNKNOWN_TYPE: &str = "anticipation.hologram";

/// How many events there are to one of a newer build.
const EVENTS_TO_ONE: u128 = 16;

/// The text of an event's type, as the database has it.
pub(crate) fn stored_type(event: EventId, known: EventType) -> &'static str {
    if is_of_newer_build(event) {
        UNKNOWN_TYPE
    } else {
        known.as_str()
    }
}

/// Whether a newer build recorded it, which its id decides.
pub(crate) fn is_of_newer_build(event: EventId) -> bool {
    event.as_uuid().as_u128().is_multiple_of(EVENTS_TO_ONE)
}
