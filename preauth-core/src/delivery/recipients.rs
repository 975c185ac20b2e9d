//! Recipients of an event
//! ([contract, "Recipients"](https://example.com/preauth/blob/main/docs/reference.md#recipients)).

use crate::port::Subscription;
use crate::value::{CompanyId, EventType, Family};

/// The endpoints among `subscriptions` that receive an event of `event_type`.
///
/// Events of operations go to payer and supplier, the others to the payer alone, each at the endpoint of
/// its head office, and only if that endpoint chose the type. A test event goes to the payer's endpoint
/// regardless of the types that it chose.
#[must_use]
pub fn recipients(
    event_type: EventType,
    payer_head_office: CompanyId,
    subscriptions: &[Subscription],
) -> Vec<&Subscription> {
    subscriptions
        .iter()
        .filter(|subscription| match event_type.family() {
            Family::PreAuthorization | Family::Anticipation => {
                subscription.events.contains(event_type)
            }
            Family::Invoice | Family::PaymentOrder => {
                subscription.head_office == payer_head_office
                    && subscription.events.contains(event_type)
            }
            Family::Webhook => subscription.head_office == payer_head_office,
        })
        .collect()
}
