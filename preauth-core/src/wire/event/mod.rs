//! The JSON of webhook events.

mod data;
mod envelope;
mod invoice;
mod list;
mod operation;
mod payment_order;
mod test;

pub use data::EventData;
pub use envelope::{EventEnvelope, RawEventEnvelope};
pub use invoice::{EventInvoice, InvoiceReceivedData};
pub use list::{EventList, EventPagination, MAX_EVENT_WAIT_SECONDS, MAX_EVENTS};
pub use operation::{ExtensionData, OperationEventData};
pub use payment_order::PaymentOrderEventData;
pub use test::WebhookTestData;
