//! A direct advance with one delivery of its event, without any service.

use std::num::NonZeroU32;
use std::sync::Arc;

use chrono::TimeDelta;
use preauth_core::memory::{Company, Endpoint, MemoryStore};
use preauth_core::operation::{
    Actor, DirectAdvance, Invoice, InvoiceAmounts, Operation, decide_direct_advance,
};
use preauth_core::port::{
    Attempt, Claim, Commit, EventRecord, Leased, NewDelivery, OfferTarget, Outbox, Store, Verdict,
    Write,
};
use preauth_core::value::{
    Cnpj, CompanyId, CompanyKind, CompanyName, DeliveryId, DueDate, EndpointId, EventId, EventType,
    EventTypeSet, Money, Timestamp, Version,
};
use uuid::Uuid;

pub(crate) fn now() -> Timestamp {
    Timestamp::parse("2026-11-21T12:00:00Z").unwrap()
}

pub(crate) fn company(number: u128, cnpj: &str, kind: CompanyKind) -> Company {
    Company {
        id: CompanyId::new(Uuid::from_u128(number)),
        head_office: None,
        cnpj: Cnpj::parse(cnpj).unwrap(),
        name: CompanyName::parse("Empresa").unwrap(),
        kind,
    }
}

pub(crate) fn endpoint_id() -> EndpointId {
    EndpointId::new(Uuid::from_u128(10))
}

pub(crate) fn delivery_id() -> DeliveryId {
    DeliveryId::new(Uuid::from_u128(20))
}

/// A host with one operation and one delivery, due now.
pub(crate) async fn given() -> (Arc<MemoryStore>, Operation) {
    let store = Arc::new(MemoryStore::new(now));
    let payer = company(1, "11222333000181", CompanyKind::Construction);
    let supplier = company(2, "12ABC34501DE35", CompanyKind::Supplier);
    store.add_company(payer.clone());
    store.add_company(supplier.clone());
    store.add_endpoint(Endpoint {
        id: endpoint_id(),
        head_office: payer.id,
        url: "https://receiver.example/".to_owned(),
        events: EventTypeSet::all(),
        sealed_secret: Vec::new(),
        registered_at: now(),
    });
    let amount = Money::from_cents(1_000_000).unwrap();
    let advance = DirectAdvance {
        payer: payer.id,
        supplier: supplier.cnpj,
        invoice: Invoice {
            amounts: InvoiceAmounts::from_cents(amount, Money::ZERO).unwrap(),
            due_date: DueDate::parse("2027-02-20").unwrap(),
            number: None,
        },
        external_reference: None,
    };
    let target = OfferTarget {
        payer: payer.id,
        supplier: supplier.cnpj,
        invoice_number: None,
        idempotency_key: None,
    };
    let loaded = store.load_offer(&target).await.unwrap().unwrap();
    let operation = decide_direct_advance(&advance, &loaded.context, now()).unwrap();
    let write = Write::NewOperation(Box::new(operation.clone()));
    let mut commit = commit(write, EventType::AnticipationCreated);
    commit.deliveries.push(NewDelivery {
        id: delivery_id(),
        endpoint: endpoint_id(),
    });
    store.commit(commit).await.unwrap();
    (store, operation)
}

pub(crate) fn commit(write: Write, event_type: EventType) -> Commit {
    // Each version has an event of its own.
    let expected = write.expected_version().map_or(0, Version::get);
    let number = 30_i64.checked_add(expected).unwrap();
    let number = u128::try_from(number).unwrap();
    let event = EventRecord {
        id: EventId::new(Uuid::from_u128(number)),
        event_type,
        at: now(),
        actor: Actor::Platform,
        body: "body".to_owned(),
    };
    Commit::new(write, event, Vec::new())
}

pub(crate) async fn claim(store: &MemoryStore) -> Vec<Leased> {
    let claim = Claim {
        now: now(),
        lease: TimeDelta::seconds(30),
        limit: 10,
        slow_limit: 10,
        per_endpoint: NonZeroU32::MIN,
        per_slow_endpoint: NonZeroU32::MIN,
        answering: Vec::new(),
        per_answering_endpoint: NonZeroU32::MIN,
    };
    store.claim(&claim).await.unwrap().leased
}

pub(crate) async fn finish(store: &MemoryStore, leased: &Leased, verdict: Verdict) -> bool {
    let attempt = Attempt {
        at: now(),
        duration: TimeDelta::milliseconds(1),
        http_status: Some(500),
        error: None,
        response_body: Vec::new(),
    };
    store.finish(leased, &attempt, verdict).await.unwrap()
}
