//! Values: every text, number, date and id of the domain, parsed once and valid from then on.
//!
//! A value of these types is always valid by the contract: fields are private, and values are built only
//! by `parse` (from untrusted input) and by constructors that validate. Each `parse` has an error type
//! with one variant per defect, so that the caller can report exactly what is wrong.
//!
//! This module reads no clock and uses no randomness; the current time is an argument named `now`.

pub mod calendar;

mod characters;
mod cnpj;
mod company_kind;
mod decimal;
mod due_date;
mod email;
mod enum_set;
mod event_type;
mod idempotency;
mod ids;
mod money;
mod origin;
mod payment_order_status;
mod permission;
mod scope;
mod stage;
mod status;
mod text;
pub(crate) mod text_enum;
mod timestamp;

pub use characters::{Escaped, escaped, is_hidden};
pub use cnpj::{Cnpj, CnpjError, CnpjRoot};
pub use company_kind::CompanyKind;
pub use decimal::{Decimal, DecimalError};
pub use due_date::{DueDate, DueDateError};
pub use email::{Email, EmailError};
pub use enum_set::EnumSet;
pub use event_type::{EventType, EventTypeSet, Family};
pub use idempotency::{
    Fingerprint, FingerprintBuilder, Fingerprints, IdempotencyKey, IdempotencyKeyError,
};
pub use ids::{
    ApiKeyId, CompanyId, DeliveryId, EndpointId, EventId, ExtensionId, IntegerIdError, InvoiceId,
    MailId, OperationId, OperatorId, PaymentOrderId, RequestId, SuppressionId, UserId, UuidIdError,
    Version,
};
pub use money::{Money, MoneyError};
pub use origin::Origin;
pub use payment_order_status::PaymentOrderStatus;
pub use permission::{Permission, PermissionSet};
pub use scope::{Scope, ScopeSet};
pub use stage::Stage;
pub use status::Status;
pub use text::{
    BoundedText, CompanyName, ContactName, ExternalReference, InvoiceNumber, KeyName, OperatorName,
    PersonName, Phone, Reason, SupplierName, TextError, file_name_shows,
};
pub use text_enum::{TextEnum, UnknownText};
pub use timestamp::{Timestamp, TimestampError};
