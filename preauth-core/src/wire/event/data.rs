//! The data of an event of any type.

use serde_json::value::RawValue;

use super::{InvoiceReceivedData, OperationEventData, PaymentOrderEventData, WebhookTestData};
use crate::value::{EventType, Family};
use crate::wire::{JsonError, Open, from_json};

/// The data of an event, in the shape of its family.
/// [Contract, "Webhook event envelope"](https://example.com/preauth/blob/main/docs/reference.md#webhook-event-envelope)
/// (`data`).
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub enum EventData {
    /// Of `pre_authorization.*` and `anticipation.*`.
    Operation(Box<OperationEventData>),
    /// Of `invoice.received`.
    Invoice(InvoiceReceivedData),
    /// Of `payment_order.*`.
    PaymentOrder(PaymentOrderEventData),
    /// Of `webhook.test`.
    Test(WebhookTestData),
    /// Of a type that is newer than this version. Acknowledge the event, and read the raw data if it
    /// matters.
    Unknown,
}

impl EventData {
    pub(super) fn read(event_type: &Open<EventType>, data: &RawValue) -> Result<Self, JsonError> {
        let Open::Known(event_type) = event_type else {
            return Ok(Self::Unknown);
        };
        let data = data.get().as_bytes();
        match event_type.family() {
            Family::PreAuthorization | Family::Anticipation => {
                from_json(data).map(|data| Self::Operation(Box::new(data)))
            }
            Family::Invoice => from_json(data).map(Self::Invoice),
            Family::PaymentOrder => from_json(data).map(Self::PaymentOrder),
            Family::Webhook => from_json(data).map(Self::Test),
        }
    }
}
