//! A host in memory: every port over one mutex, for tests, for sandboxes, and for services that
//! embed the rules and store their operations elsewhere.
//!
//! Nothing is written to disk and no runtime is needed: every future is ready at its first poll.
//! Methods return the stored records: deliveries with their attempts, mails, files.
//!
//! # Embedding
//!
//! Register the companies, pass the ports to the service, and use it: offer, then request.
//!
//! ```
//! use std::sync::Arc;
//!
//! use preauth_core::Policy;
//! use preauth_core::memory::{Company, CountingIds, MemoryStore};
//! use preauth_core::operation::{
//!     Actor, Command, Credit, Invoice, InvoiceAmounts, Offer, OfferedSupplier, Operation,
//! };
//! use preauth_core::port::{InvoiceEvent, OperationEvent, OrderEvent, Render, Viewer};
//! use preauth_core::service::{OfferOutcome, Operations};
//! use preauth_core::value::{
//!     Cnpj, CompanyId, CompanyKind, CompanyName, ContactName, Decimal, DueDate, Email, EventId, EventType,
//!     InvoiceNumber, Money, Status, SupplierName, Timestamp,
//! };
//!
//! /// The texts that strangers read. A real host writes JSON.
//! struct PlainText;
//!
//! impl Render for PlainText {
//!     fn reply(&self, operation: &Operation) -> String {
//!         format!("operation {} is {}", operation.id, operation.status())
//!     }
//!     fn operation_event(&self, event: &OperationEvent<'_>) -> String {
//!         format!("{} of operation {}", event.event_type, event.operation.id)
//!     }
//!     fn order_event(&self, event: &OrderEvent<'_>) -> String {
//!         format!("{} of order {}", event.event_type, event.order.id)
//!     }
//!     fn invoice_event(&self, event: &InvoiceEvent<'_>) -> String {
//!         format!("invoice {} received", event.invoice.id)
//!     }
//!     fn test_event(&self, _id: EventId, _at: Timestamp) -> String {
//!         "a test".to_owned()
//!     }
//!     fn offer_mail(&self, operation: &Operation, _is_invitation: bool) -> String {
//!         format!("{} offers you an advance", operation.payer.name)
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let now = Timestamp::parse("2026-11-21T12:00:00Z")?;
//! let store = Arc::new(MemoryStore::new(move || now));
//! let payer = CompanyId::parse("018f2f3a-0000-7000-8000-000000000001")?;
//! store.add_company(Company {
//!     id: payer,
//!     head_office: None,
//!     cnpj: Cnpj::parse("11.222.333/0001-81")?,
//!     name: CompanyName::parse("Construtora Exemplo Ltda")?,
//!     kind: CompanyKind::Construction,
//! });
//! store.set_credit(
//!     payer,
//!     Credit {
//!         max_term_days: 120,
//!         max_invoice_amount: Money::parse("250000")?,
//!     },
//! );
//!
//! let ids = Arc::new(CountingIds::new());
//! let service = Operations::new(
//!     store.clone(),
//!     ids,
//!     Arc::new(PlainText),
//!     Policy::default(),
//! );
//! let amount = Decimal::parse_plain("12500.00")?;
//! let offer = Offer {
//!     payer,
//!     supplier: OfferedSupplier {
//!         cnpj: Cnpj::parse("12.ABC.345/01DE-35")?,
//!         email: Email::parse("financeiro@fornecedor.example")?,
//!         name: Some(SupplierName::parse("Fornecedor Exemplo Ltda")?),
//!         contact_name: Some(ContactName::parse("Ana Souza")?),
//!         phone: None,
//!     },
//!     invoice: Invoice {
//!         amounts: InvoiceAmounts::parse(&amount, None).map_err(|_| "amount out of bounds")?,
//!         due_date: DueDate::parse("2027-01-20")?,
//!         number: Some(InvoiceNumber::parse("NF-1042")?),
//!     },
//!     external_reference: None,
//!     file: None,
//! };
//!
//! let offered = service.offer(&offer, Actor::Company, None, now).await?;
//! assert_eq!(offered.body(), "operation 1 is IN_PRE_AUTH");
//! let OfferOutcome::Created { operation, .. } = offered else {
//!     return Err("without an idempotency key nothing is replayed".into());
//! };
//!
//! let requested = service
//!     .command(Viewer::Platform, operation.id, &Command::Request, Actor::Supplier, now)
//!     .await?;
//! assert_eq!(requested.operation.status(), Status::ToApprove);
//! assert_eq!(requested.event, Some(EventType::AnticipationRequested));
//! assert_eq!(store.mails().len(), 1);
//! # Ok(())
//! # }
//! ```

mod archive;
mod commit;
mod delivery;
mod directory;
mod feed;
mod ids;
mod lists;
mod outbox;
mod queries;
mod records;
mod sequence;
mod store;
mod tables;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::ReceivedInvoice;
use crate::operation::InvoiceFile;
use crate::port::{ExtensionRecord, NewMail};
use crate::value::{ExtensionId, InvoiceId, OperationId, Timestamp};

use tables::Tables;

pub use crate::port::DeliveryStatus;
pub use delivery::DeliveryRecord;
pub use ids::CountingIds;
pub use records::{Company, Endpoint};

/// Implements [`Store`](crate::port::Store), [`Outbox`](crate::port::Outbox),
/// [`Queries`](crate::port::Queries) and [`EventFeed`](crate::port::EventFeed) in memory.
///
/// Share it in an `Arc`; every method takes `&self`. Each call holds the only lock from its first read
/// to its last write, so a load is a snapshot and a commit is a transaction.
pub struct MemoryStore {
    tables: Mutex<Tables>,
    clock: Arc<dyn Fn() -> Timestamp + Send + Sync>,
}

impl MemoryStore {
    /// An empty host; `clock` is the host's own clock, and only leases expire by it.
    #[must_use]
    pub fn new(clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self {
            tables: Mutex::default(),
            clock: Arc::new(clock),
        }
    }

    /// The content of a standby that is promoted at this moment: everything that was committed, and
    /// sequences that continue `skipped` numbers after the newest committed id. The two hosts are
    /// independent from then on.
    #[must_use]
    pub fn promoted(&self, skipped: i64) -> Self {
        let mut tables = self.lock().clone();
        tables.forget_reserved(skipped);
        Self {
            tables: Mutex::new(tables),
            clock: Arc::clone(&self.clock),
        }
    }

    /// Reserves an id for an extension that is about to be created; it is never assigned twice.
    #[must_use]
    pub fn reserve_extension_id(&self) -> Option<ExtensionId> {
        ExtensionId::new(self.lock().next_extension())
    }

    /// An extension with its status, and the operation whose boleto it extends.
    #[must_use]
    pub fn extension(&self, id: ExtensionId) -> Option<(OperationId, ExtensionRecord)> {
        self.lock().extensions.get(&id).copied()
    }

    /// A received invoice.
    #[must_use]
    pub fn received_invoice(&self, id: InvoiceId) -> Option<ReceivedInvoice> {
        self.lock().invoices.get(&id).cloned()
    }

    /// The mails staged so far, oldest first.
    #[must_use]
    pub fn mails(&self) -> Vec<NewMail> {
        self.lock().mails.clone()
    }

    /// The description of the invoice file that came with an offer.
    #[must_use]
    pub fn invoice_file(&self, operation: OperationId) -> Option<InvoiceFile> {
        self.lock().files.get(&operation).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, Tables> {
        // A panic while the lock was held cannot have left half a commit: no code between the first
        // and the last write of a commit can panic.
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").finish_non_exhaustive()
    }
}
