//! Texts that are difficult for a store: every byte of them must be returned.

use crate::operation::Operation;
use crate::port::{InvoiceEvent, OperationEvent, OrderEvent, Render};
use crate::value::{EventId, Timestamp};

/// Quotes, a backslash, letters of two, three and four bytes, and a line break.
const AWKWARD: &str = "\"aspas\" \\ 'ção' 漢 🙂\n";

pub(super) struct AwkwardTexts;

impl Render for AwkwardTexts {
    fn reply(&self, operation: &Operation) -> String {
        let (id, status) = (operation.id, operation.status());
        format!("{{\"id\":{id},\"status\":\"{status}\",\"text\":{AWKWARD:?}}}")
    }

    fn operation_event(&self, event: &OperationEvent<'_>) -> String {
        let status = event.operation.status();
        let (stage, reason) = (event.stage, event.reason);
        let extension = event.extension.map(|extension| extension.id);
        format!(
            "{} {} {} {status} {stage:?} {reason:?} {extension:?} {AWKWARD}",
            event.id, event.event_type, event.at
        )
    }

    fn order_event(&self, event: &OrderEvent<'_>) -> String {
        let (at, status) = (event.at, event.order.status);
        format!("{} {} {at} {status} {AWKWARD}", event.id, event.event_type)
    }

    fn invoice_event(&self, event: &InvoiceEvent<'_>) -> String {
        format!("{} {} {} {AWKWARD}", event.id, event.at, event.invoice.id)
    }

    fn test_event(&self, id: EventId, at: Timestamp) -> String {
        format!("{id} {at} {AWKWARD}")
    }

    fn offer_mail(&self, operation: &Operation, is_invitation: bool) -> String {
        format!("{} {is_invitation} {AWKWARD}", operation.id)
    }
}
