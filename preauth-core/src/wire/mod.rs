//! The JSON shapes of the integration API, as they stand in requests, answers and webhooks.
//!
//! Service and client share these types, so that both speak of the same fields. They know
//! [`value`](crate::value) and the [error codes](crate::ErrorCode), and nothing of the rules: what a
//! create means, or which status follows which, is not their business.
//!
//! - Written: fields in the order of the contract, `null` where the contract has a field that is
//!   empty, amounts as exact numbers of at most two decimals.
//! - Read: unknown fields are ignored, and an unknown status, stage, event type or error code keeps
//!   its text ([`Open`]), because the contract lets all of these appear without notice ("Versioning").
//!
//! The structs may get more fields within v1, so none of them can be built by a literal: each has a
//! constructor that takes what is always there, and the rest are fields to set.

pub mod header;
pub mod path;

mod amount;
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
pub use create::{CreateInvoice, CreatePreAuthorization, CreateSupplier};
pub use error::{ErrorBody, ErrorDetail, ErrorItem};
pub use event::{
    EventData, EventEnvelope, EventInvoice, ExtensionData, InvoiceReceivedData, OperationEventData,
    PaymentOrderEventData, RawEventEnvelope, WebhookTestData,
};
pub use json::{JsonError, from_json};
pub use open::Open;
pub use pre_authorization::{
    Invoice, Pagination, Party, PreAuthorization, PreAuthorizationList, SupplierParty,
};
