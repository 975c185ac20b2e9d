//! The envelope around the data of every event.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::EventData;
use crate::value::{EventId, EventType, Timestamp};
use crate::wire::{JsonError, Open, from_json, text};

/// An event as a webhook carries it: exactly these four fields.
/// [Contract, "Webhook event envelope"](https://example.com/preauth/blob/main/docs/reference.md#webhook-event-envelope).
///
/// A receiver reads a [`RawEventEnvelope`] first, because the shape of `data` depends on the type,
/// and then [`RawEventEnvelope::data`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub struct EventEnvelope<D> {
    /// The same on every attempt and resend; receivers deduplicate by it.
    #[serde(with = "text")]
    pub id: EventId,
    /// The type of the event; the JSON field is named `type`.
    #[serde(rename = "type")]
    pub event_type: Open<EventType>,
    /// The time of the event.
    #[serde(with = "text")]
    pub created_at: Timestamp,
    /// The data of the event.
    pub data: D,
}

/// An event whose data has not been read yet.
///
/// ```
/// use preauth_core::wire::{EventData, RawEventEnvelope};
///
/// let body = br#"{
///     "id": "0197f3c2-7b1a-7c33-9d2e-5a6f7b8c9d0e",
///     "type": "webhook.test",
///     "createdAt": "2026-11-21T12:00:00.000Z",
///     "data": {"message": "hello"}
/// }"#;
/// let event = RawEventEnvelope::from_json(body)?;
/// match event.data()? {
///     EventData::Test(test) => assert_eq!(test.message.as_deref(), Some("hello")),
///     _ => unreachable!("the type shows that it is a test"),
/// }
/// # Ok::<(), preauth_core::wire::JsonError>(())
/// ```
pub type RawEventEnvelope = EventEnvelope<Box<RawValue>>;

impl<D> EventEnvelope<D> {
    /// An event with its data.
    #[must_use]
    pub fn new(
        id: EventId,
        event_type: impl Into<Open<EventType>>,
        created_at: Timestamp,
        data: D,
    ) -> Self {
        Self {
            id,
            event_type: event_type.into(),
            created_at,
            data,
        }
    }
}

impl RawEventEnvelope {
    /// Reads the body of a webhook. Verify its signature first.
    pub fn from_json(body: &[u8]) -> Result<Self, JsonError> {
        from_json(body)
    }

    /// Reads the data in the shape of the event's type. A type that this version does not know gives
    /// [`EventData::Unknown`], not an error.
    pub fn data(&self) -> Result<EventData, JsonError> {
        EventData::read(&self.event_type, &self.data)
    }
}
