//! A payer, a supplier, and the service over a host that can be made to fail.

use std::sync::Arc;

use preauth_core::Policy;
use preauth_core::memory::{Company, CountingIds, MemoryStore};
use preauth_core::operation::{
    Actor, Command, Credit, DirectAdvance, Invoice, InvoiceAmounts, Offer, OfferedSupplier,
    Operation,
};
use preauth_core::port::{
    Filter, InvoiceEvent, OperationEvent, OrderEvent, PageRequest, Queries, Render, Store, Viewer,
};
use preauth_core::service::{CommandOutcome, OfferOutcome, Operations, ServiceError};
use preauth_core::value::{
    Cnpj, CompanyId, CompanyKind, CompanyName, DueDate, Email, EventId, IdempotencyKey,
    InvoiceNumber, Money, OperationId, Timestamp,
};
use uuid::Uuid;

use crate::faulty::Faulty;

pub(crate) struct Given {
    pub(crate) faulty: Arc<Faulty>,
    pub(crate) service: Arc<Operations>,
    pub(crate) now: Timestamp,
}

pub(crate) fn payer() -> CompanyId {
    CompanyId::new(Uuid::from_u128(1))
}

pub(crate) fn supplier() -> Cnpj {
    Cnpj::parse("12ABC34501DE35").unwrap()
}

pub(crate) fn key() -> IdempotencyKey {
    IdempotencyKey::parse("order:2026-0042").unwrap()
}

pub(crate) fn given() -> Given {
    let now = Timestamp::parse("2026-11-21T12:00:00Z").unwrap();
    let store = Arc::new(MemoryStore::new(move || now));
    let company = |id, cnpj, kind| Company {
        id,
        head_office: None,
        cnpj,
        name: CompanyName::parse("Empresa").unwrap(),
        kind,
    };
    let payer_cnpj = Cnpj::parse("11222333000181").unwrap();
    store.add_company(company(payer(), payer_cnpj, CompanyKind::Construction));
    let supplier_id = CompanyId::new(Uuid::from_u128(2));
    store.add_company(company(supplier_id, supplier(), CompanyKind::Supplier));
    let credit = Credit {
        max_term_days: 180,
        max_invoice_amount: Money::from_cents(InvoiceAmounts::MAX_CENTS).unwrap(),
    };
    store.set_credit(payer(), credit);
    let faulty = Arc::new(Faulty::new(store));
    Given {
        service: Arc::new(instance_over(faulty.clone(), 7)),
        faulty,
        now,
    }
}

/// An instance of the service with ids of its own.
pub(crate) fn instance_over(store: Arc<dyn Store>, namespace: u64) -> Operations {
    let ids = Arc::new(CountingIds::in_namespace(namespace));
    Operations::new(store, ids, Arc::new(Plain), Policy::default())
}

impl Given {
    pub(crate) fn offer(number: &str) -> Offer {
        Offer {
            payer: payer(),
            supplier: OfferedSupplier {
                cnpj: supplier(),
                email: Email::parse("to@example.com").unwrap(),
                name: None,
                contact_name: None,
                phone: None,
            },
            invoice: invoice(Some(number)),
            external_reference: None,
            file: None,
        }
    }

    /// A direct advance without an invoice number: nothing but its id distinguishes it from another.
    pub(crate) fn unnumbered_advance() -> DirectAdvance {
        DirectAdvance {
            payer: payer(),
            supplier: supplier(),
            invoice: invoice(None),
            external_reference: None,
        }
    }

    pub(crate) async fn send(
        &self,
        key: Option<&IdempotencyKey>,
    ) -> Result<OfferOutcome, ServiceError> {
        let offer = Self::offer("NF-1");
        self.service
            .offer(&offer, Actor::Company, key, self.now)
            .await
    }

    pub(crate) async fn begin(&self) -> OperationId {
        created(self.send(None).await).id
    }

    pub(crate) async fn command(
        &self,
        id: OperationId,
        command: &Command,
    ) -> Result<CommandOutcome, ServiceError> {
        let viewer = Viewer::Platform;
        let done = self
            .service
            .command(viewer, id, command, Actor::Platform, self.now);
        done.await
    }

    /// Everything that is stored.
    pub(crate) async fn stored(&self) -> Vec<Operation> {
        let page = PageRequest {
            page: 1,
            limit: 100,
        };
        let everything = Filter::default();
        let all = self.faulty.inner.list(Viewer::Platform, &everything, page);
        all.await.unwrap().operations
    }

    pub(crate) async fn events(&self, id: OperationId) -> usize {
        self.faulty.inner.history(id).await.unwrap().len()
    }
}

pub(crate) fn created(offered: Result<OfferOutcome, ServiceError>) -> Operation {
    match offered {
        Ok(OfferOutcome::Created { operation, .. }) => *operation,
        other => panic!("not created: {other:?}"),
    }
}

fn invoice(number: Option<&str>) -> Invoice {
    let amount = Money::from_cents(1_250_000).unwrap();
    Invoice {
        amounts: InvoiceAmounts::from_cents(amount, Money::ZERO).unwrap(),
        due_date: DueDate::parse("2027-02-20").unwrap(),
        number: number.map(|number| InvoiceNumber::parse(number).unwrap()),
    }
}

struct Plain;

impl Render for Plain {
    fn reply(&self, operation: &Operation) -> String {
        format!("{} {}", operation.id, operation.status())
    }

    fn operation_event(&self, event: &OperationEvent<'_>) -> String {
        event.event_type.to_string()
    }

    fn order_event(&self, event: &OrderEvent<'_>) -> String {
        event.event_type.to_string()
    }

    fn invoice_event(&self, event: &InvoiceEvent<'_>) -> String {
        format!("event {}", event.id)
    }

    fn test_event(&self, id: EventId, _at: Timestamp) -> String {
        format!("event {id}")
    }

    fn offer_mail(&self, operation: &Operation, _is_invitation: bool) -> String {
        operation.id.to_string()
    }
}
