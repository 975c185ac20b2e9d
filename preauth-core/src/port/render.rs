//! Renders the texts that a commit stores: bodies of responses and webhooks, and mails.
//!
//! The rules do not depend on JSON. A host renders once, at the commit; from then on exactly these bytes
//! are stored, repeated and signed.

use crate::ReceivedInvoice;
use crate::operation::{Extension, Operation};
use crate::payment_order::PaymentOrder;
use crate::value::{EventId, EventType, Stage, Timestamp};

/// Renders the bodies of responses and webhooks, and mails.
pub trait Render: Send + Sync {
    /// The response body of a create, and of every replay of it.
    fn reply(&self, operation: &Operation) -> String;

    /// The webhook body (envelope and data) of an event of an operation.
    fn operation_event(&self, event: &OperationEvent<'_>) -> String;

    /// The webhook body of an event of a payment order.
    fn order_event(&self, event: &OrderEvent<'_>) -> String;

    /// The webhook body of the event that reports a received invoice.
    fn invoice_event(&self, event: &InvoiceEvent<'_>) -> String;

    /// The webhook body of a test event.
    fn test_event(&self, id: EventId, at: Timestamp) -> String;

    /// The mail that announces an offer to a supplier, in the form in which the host stores mails.
    fn offer_mail(&self, operation: &Operation, is_invitation: bool) -> String;
}

/// The data of an event of an operation when it is recorded.
#[derive(Clone, Copy, Debug)]
pub struct OperationEvent<'a> {
    /// Equal on every attempt and for every recipient.
    pub id: EventId,
    /// The event's type.
    pub event_type: EventType,
    /// When it happened.
    pub at: Timestamp,
    /// The operation after the event.
    pub operation: &'a Operation,
    /// The stage at which it was closed, if this event closed it.
    pub stage: Option<Stage>,
    /// Why it was closed, if this event closed it.
    pub reason: Option<&'a str>,
    /// The extension, in extension events only.
    pub extension: Option<&'a Extension>,
}

/// The data of an event of a payment order when it is recorded.
#[derive(Clone, Copy, Debug)]
pub struct OrderEvent<'a> {
    /// Equal on every attempt.
    pub id: EventId,
    /// The event's type.
    pub event_type: EventType,
    /// When it happened.
    pub at: Timestamp,
    /// The order after the event.
    pub order: &'a PaymentOrder,
}

/// The data of the event of a received invoice when it is recorded.
#[derive(Clone, Copy, Debug)]
pub struct InvoiceEvent<'a> {
    /// Equal on every attempt.
    pub id: EventId,
    /// When it was received.
    pub at: Timestamp,
    /// The invoice.
    pub invoice: &'a ReceivedInvoice,
}
