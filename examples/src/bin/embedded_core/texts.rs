//! The representation of an operation: here plain text, elsewhere JSON or protobuf.

use preauth_core::operation::Operation;
use preauth_core::port::{InvoiceEvent, OperationEvent, OrderEvent, Render};
use preauth_core::value::{EventId, Timestamp};

pub(crate) struct PlainText;

impl Render for PlainText {
    fn reply(&self, operation: &Operation) -> String {
        format!("operation {} is {}", operation.id, operation.status())
    }

    fn operation_event(&self, event: &OperationEvent<'_>) -> String {
        let state = self.reply(event.operation);
        let reason = event.reason.map(|reason| format!(" ({reason})"));
        format!(
            "{}: {state}{}",
            event.event_type,
            reason.unwrap_or_default()
        )
    }

    fn order_event(&self, event: &OrderEvent<'_>) -> String {
        format!(
            "{}: order {} is {}",
            event.event_type, event.order.id, event.order.status
        )
    }

    fn invoice_event(&self, event: &InvoiceEvent<'_>) -> String {
        format!("invoice {} was received", event.invoice.id)
    }

    fn test_event(&self, _id: EventId, _at: Timestamp) -> String {
        "a test".to_owned()
    }

    fn offer_mail(&self, operation: &Operation, _is_invitation: bool) -> String {
        format!("{} offers you an advance", operation.payer.name)
    }
}
