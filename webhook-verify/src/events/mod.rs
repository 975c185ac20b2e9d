//! The event in a verified body, and a helper that handles each event once.
//!
//! ```
//! use webhook_verify::events::{EventData, Handled, MemorySeen, Once};
//! use webhook_verify::{Secret, Verifier, sign};
//!
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! # let secret = Secret::parse("whsec_dGVzdC1vbmx5LXNlY3JldC1vZi10aGUtZG9jcyE")?;
//! # let body = br#"{"id": "0197f3c2-7b1a-7c33-9d2e-5a6f7b8c9d0e", "type": "pre_authorization.revoked",
//! #   "createdAt": "2026-11-21T12:00:00.000Z", "data": {"anticipationId": 1042, "status": "REPROVED",
//! #   "origin": "PRE_AUTH", "invoice": {"amount": 1234.5, "dueDate": "2026-12-21", "number": "NF-1"},
//! #   "netAmount": null, "payer": {"cnpj": "11222333000181", "name": "Construtora"}, "supplier": {"cnpj":
//! #   "12ABC34501DE35", "name": null}, "externalReference": null, "reason": "Cancelada", "stage": "PRE_AUTH"}}"#;
//! # let header = sign(&[secret.clone()], 1_760_000_000, body)?;
//! # let verifier = Verifier::new(secret);
//! // Once, at start.
//! let once = Once::new(MemorySeen::default());
//!
//! // For each delivery.
//! let event = verifier.verify(Some(header.as_bytes()), body, 1_760_000_000)?.event()?;
//! let handled = once.handle(event.id(), async || {
//!     if let EventData::Operation(operation) = event.data() {
//!         println!("operation {} is {}", operation.anticipation_id, operation.status);
//!     }
//!     Ok::<(), std::io::Error>(())
//! });
//! assert_eq!(handled.await?, Handled::Now(()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Values newer than this version are never an error: an unknown type is [`EventData::Unknown`], an
//! unknown status keeps its text ([`Open`]), and unknown fields are in [`Event::raw_data`].

mod event;
mod once;
mod seen;

pub use event::{Event, EventError};
pub use once::{Handled, Once, OnceError};
pub use seen::{MemorySeen, SeenEvents};

pub use preauth_core::value::{
    Cnpj, DueDate, EventId, EventType, ExtensionId, InvoiceId, Money, OperationId, Origin,
    PaymentOrderId, PaymentOrderStatus, Stage, Status, Timestamp,
};
pub use preauth_core::wire::{
    Amount, EventData, EventInvoice, ExtensionData, InvoiceReceivedData, JsonError, Open,
    OperationEventData, Party, PaymentOrderEventData, SupplierParty, WebhookTestData,
};
