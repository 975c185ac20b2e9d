//! A typed event.

use std::fmt;

use preauth_core::value::{EventId, EventType, Timestamp};
use preauth_core::wire::{EventData, JsonError, Open, RawEventEnvelope};

use crate::Verified;

/// An event whose sender is verified
/// ([contract, "Webhook event envelope"](https://example.com/preauth/blob/main/docs/reference.md#webhook-event-envelope)).
///
/// Only [`Verified::event`] makes one.
#[derive(Clone)]
pub struct Event {
    envelope: RawEventEnvelope,
    data: EventData,
}

impl Verified<'_> {
    /// Decodes the body as an event.
    ///
    /// A type, status, stage or field that is newer than this version is not an error. It fails when
    /// the body is not an event, or does not have the fields of its type. Then answer 500, not 2xx:
    /// the sender keeps the event and repeats it, so there is time to correct the receiver.
    pub fn event(&self) -> Result<Event, EventError> {
        let envelope = RawEventEnvelope::from_json(self.body()).map_err(EventError::Envelope)?;
        match envelope.data() {
            Ok(data) => Ok(Event { envelope, data }),
            Err(cause) => Err(EventError::Data {
                id: envelope.id,
                event_type: envelope.event_type,
                cause,
            }),
        }
    }
}

impl Event {
    /// The same on every attempt and resend. Deduplicate by it ([`Once`](super::Once)).
    #[must_use]
    pub const fn id(&self) -> EventId {
        self.envelope.id
    }

    /// The event's type.
    #[must_use]
    pub const fn event_type(&self) -> &Open<EventType> {
        &self.envelope.event_type
    }

    /// When it happened. Events may arrive in a different order.
    #[must_use]
    pub const fn created_at(&self) -> Timestamp {
        self.envelope.created_at
    }

    /// The event's data, with the fields of its type.
    #[must_use]
    pub const fn data(&self) -> &EventData {
        &self.data
    }

    /// The `data` as received: JSON, including fields that this version does not know.
    #[must_use]
    pub fn raw_data(&self) -> &str {
        self.envelope.data.get()
    }
}

/// Shows id and type only: the data contains tax ids and amounts.
impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Event")
            .field("id", &self.id())
            .field("event_type", self.event_type())
            .finish_non_exhaustive()
    }
}

/// Why a verified body is not an event. `Debug` writes the same text and then its cause.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum EventError {
    /// The body does not have the four fields of every event.
    #[error("the verified body is not an event: it lacks one of id, type, createdAt and data")]
    Envelope(#[source] JsonError),
    /// `data` does not have the fields of the event's type.
    #[error("the data of event {id} is not that of {event_type}")]
    Data {
        /// The event's id.
        id: EventId,
        /// The event's type.
        event_type: Open<EventType>,
        /// Why its data cannot be decoded.
        #[source]
        cause: JsonError,
    },
}

impl fmt::Debug for EventError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Envelope(cause) | Self::Data { cause, .. } => write!(f, "{self}: {cause:?}"),
        }
    }
}
