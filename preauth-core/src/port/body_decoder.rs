//! Decodes stored bodies: the inverse of [`Render`](super::Render).

use chrono::NaiveDate;

use crate::operation::Extension;
use crate::value::{
    Cnpj, DueDate, EventId, EventType, Money, OperationId, Origin, PaymentOrderId,
    PaymentOrderStatus, Stage, Status, Timestamp,
};

/// Decodes bodies as external clients read them; used by audits only, never for decisions.
pub trait BodyDecoder: Send + Sync {
    /// The content of a webhook body; `None` when `body` is not a webhook body.
    fn event(&self, body: &str) -> Option<DecodedEvent>;

    /// The content of the response to a create; `None` when `body` is not such a response.
    fn reply(&self, body: &str) -> Option<DecodedReply>;
}

/// The content of a webhook body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodedEvent {
    /// The `id` of the envelope.
    pub id: EventId,
    /// Its `type`.
    pub event_type: EventType,
    /// Its `createdAt`.
    pub at: Timestamp,
    /// Its `data`.
    pub data: DecodedData,
}

/// The data of a webhook body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DecodedData {
    /// Of an operation.
    Operation(Box<DecodedOperation>),
    /// Of a payment order.
    Order(Box<DecodedOrder>),
    /// Of neither an operation nor a payment order.
    Other,
}

/// An operation as a webhook shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodedOperation {
    /// `anticipationId`.
    pub id: OperationId,
    /// `status`, after the event.
    pub status: Status,
    /// `origin`.
    pub origin: Origin,
    /// `invoice.amount`.
    pub amount: Money,
    /// `invoice.dueDate`.
    pub due_date: DueDate,
    /// `invoice.number`.
    pub number: Option<String>,
    /// `netAmount`.
    pub net_amount: Option<Money>,
    /// `payer.cnpj`.
    pub payer: Cnpj,
    /// `supplier.cnpj`.
    pub supplier: Cnpj,
    /// `externalReference`.
    pub external_reference: Option<String>,
    /// `reason`.
    pub reason: Option<String>,
    /// `stage`.
    pub stage: Option<Stage>,
    /// `extension`.
    pub extension: Option<Extension>,
}

/// A payment order as a webhook shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodedOrder {
    /// `paymentOrderId`.
    pub id: PaymentOrderId,
    /// `status`, after the event.
    pub status: PaymentOrderStatus,
    /// `amount`.
    pub amount: Money,
    /// `scheduledFor`.
    pub scheduled_for: Option<NaiveDate>,
    /// `anticipationId`.
    pub operation: Option<OperationId>,
    /// `payer.cnpj`.
    pub payer: Cnpj,
    /// `supplier.cnpj`.
    pub supplier: Cnpj,
    /// `reason`.
    pub reason: Option<String>,
}

/// An operation as the response to its creation shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodedReply {
    /// `id`.
    pub id: OperationId,
    /// `status`.
    pub status: Status,
    /// `invoice.amount`.
    pub amount: Money,
    /// `invoice.withheldTaxAmount`.
    pub withheld_tax: Money,
    /// `invoice.dueDate`.
    pub due_date: DueDate,
    /// `invoice.number`.
    pub number: Option<String>,
    /// `payer.cnpj`.
    pub payer: Cnpj,
    /// `supplier.cnpj`.
    pub supplier: Cnpj,
    /// `externalReference`.
    pub external_reference: Option<String>,
    /// `expiresAt`.
    pub expires_at: Option<Timestamp>,
    /// `createdAt`.
    pub created_at: Timestamp,
}
