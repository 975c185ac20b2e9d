//! The JSON shapes of the integration API: requests, answers and webhooks.
//!
//! Service and client share these types, so that both use the same fields. They depend on
//! [`value`](crate::value) and the [error codes](crate::ErrorCode), and not on the rules: the effect of a
//! create and the order of statuses are defined elsewhere.
//!
//! - Written: fields in the order of the contract, `null` for empty fields of the contract, amounts as
//!   exact numbers of at most two decimals.
//! - Read: unknown fields are ignored, and an unknown status, stage, event type or error code keeps
//!   its text ([`Open`]), because the contract allows new ones at any time ("Versioning").
//!
//! The structs may get more fields within v1, so none of them can be built by a literal: each has a
//! constructor for the required fields, and the others are set afterwards.

pub mod header;
pub mod path;

mod amount;
mod batch;
mod create;
mod error;
mod event;
mod json;
mod number;
mod open;
mod pre_authorization;
mod text;
#[cfg(feature = "serde")]
mod values;

pub use amount::Amount;
pub use batch::{
    BatchResult, BatchResults, CreateBatch, CreateBatchItem, MAX_BATCH_BYTES, MAX_BATCH_ITEMS,
    ValidatedSupplier, Validation,
};
pub use create::{CreateInvoice, CreatePreAuthorization, CreateSupplier};
pub use error::{ErrorBody, ErrorDetail, ErrorItem};
pub use event::{
    EventData, EventEnvelope, EventInvoice, EventList, EventPagination, ExtensionData,
    InvoiceReceivedData, MAX_EVENT_WAIT_SECONDS, MAX_EVENTS, OperationEventData,
    PaymentOrderEventData, RawEventEnvelope, WebhookTestData,
};
pub use json::{JsonError, from_json};
pub use open::Open;
pub use pre_authorization::{
    Invoice, Pagination, Party, PreAuthorization, PreAuthorizationList, SupplierParty,
};
