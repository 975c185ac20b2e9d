//! The start of a case: a payer with a branch and a registered supplier, used by no other case.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use chrono::{Days, TimeDelta};

use crate::Policy;
use crate::memory::{Company, CountingIds, Endpoint};
use crate::operation::{
    Actor, Command, Credit, DirectAdvance, Invoice, InvoiceAmounts, Offer, OfferedSupplier,
    Operation,
};
use crate::port::{ActingOperator, HistoryEntry, IdSource, OfferTarget, Viewer};
use crate::service::{OfferOutcome, Operations};
use crate::value::{
    Cnpj, CompanyId, CompanyKind, CompanyName, ContactName, DueDate, Email, EndpointId,
    EventTypeSet, ExtensionId, IdempotencyKey, InvoiceNumber, Money, OperationId, OperatorId,
    OperatorName, RequestId, SupplierName, Timestamp, calendar,
};

use super::Host;
use super::render::AwkwardTexts;

/// The companies of one case and the use cases over them.
pub(super) struct Scene<'a> {
    pub(super) host: &'a dyn Host,
    pub(super) service: Operations,
    /// The payer's head office.
    pub(super) payer: CompanyId,
    /// A branch of the payer.
    pub(super) branch: CompanyId,
    /// A registered supplier.
    pub(super) supplier: Company,
    pub(super) now: Timestamp,
    fresh: u32,
    ids: Arc<CountingIds>,
    counted: AtomicU64,
}

impl<'a> Scene<'a> {
    pub(super) async fn new(host: &'a dyn Host) -> Scene<'a> {
        let fresh = host.fresh();
        let ids = Arc::new(CountingIds::in_namespace(u64::from(fresh)));
        let now = Timestamp::parse("2026-11-21T12:00:00.000Z").unwrap();
        let id = || CompanyId::new(ids.uuid(now));
        let (payer, branch, supplier) = (id(), id(), id());
        let mut scene = Scene {
            host,
            service: service(host, &ids, Policy::default()),
            payer,
            branch,
            supplier: Company {
                id: supplier,
                head_office: None,
                cnpj: Cnpj::parse("12ABC34501DE35").unwrap(),
                name: CompanyName::parse("Fornecedor Ação & Cia").unwrap(),
                kind: CompanyKind::Supplier,
            },
            now,
            fresh,
            ids,
            counted: AtomicU64::new(0),
        };
        scene.supplier.cnpj = scene.new_cnpj();
        host.add_company(scene.company(payer, None, CompanyKind::Construction))
            .await;
        host.add_company(scene.company(branch, Some(payer), CompanyKind::Construction))
            .await;
        host.add_company(scene.supplier.clone()).await;
        host.set_credit(payer, ample_credit()).await;
        scene
    }

    /// Adds a second group: a head office of its own, with credit.
    pub(super) async fn another_payer(&self) -> CompanyId {
        let id = self.new_company_id();
        let company = self.company(id, None, CompanyKind::Construction);
        self.host.add_company(company).await;
        self.host.set_credit(id, ample_credit()).await;
        id
    }

    /// A company that is not registered yet.
    pub(super) fn company(
        &self,
        id: CompanyId,
        head_office: Option<CompanyId>,
        kind: CompanyKind,
    ) -> Company {
        let n = self.count();
        Company {
            id,
            head_office,
            cnpj: self.new_cnpj(),
            name: CompanyName::parse(&format!("Empresa nº {n}")).unwrap(),
            kind,
        }
    }

    /// Registers an endpoint for every event.
    pub(super) async fn endpoint(&self, head_office: CompanyId) -> EndpointId {
        self.endpoint_for(head_office, EventTypeSet::all()).await
    }

    pub(super) async fn endpoint_for(
        &self,
        head_office: CompanyId,
        events: EventTypeSet,
    ) -> EndpointId {
        let id = EndpointId::new(self.ids.uuid(self.now));
        let endpoint = Endpoint {
            id,
            head_office,
            url: format!("https://receiver.example/{id}"),
            events,
            sealed_secret: vec![0, 1, 2, 0xFE, 0xFF],
            registered_at: self.earlier(TimeDelta::days(1)),
        };
        self.host.add_endpoint(endpoint).await;
        id
    }

    /// Another instance of the service over the same host, as in another process.
    pub(super) fn another_service(&self) -> Operations {
        self.service_under(Policy::default())
    }

    /// Another instance of the service, with its own limits.
    pub(super) fn service_under(&self, policy: Policy) -> Operations {
        service(self.host, &self.ids, policy)
    }

    /// An offer to the registered supplier for an invoice of its own.
    pub(super) fn offer(&self) -> Offer {
        let n = self.count();
        self.offer_of(&format!("NF-{n}"))
    }

    pub(super) fn offer_of(&self, number: &str) -> Offer {
        Offer {
            payer: self.payer,
            supplier: OfferedSupplier {
                cnpj: self.supplier.cnpj,
                email: self.new_email(),
                name: None,
                contact_name: None,
                phone: None,
            },
            invoice: self.invoice(Some(number)),
            external_reference: None,
            file: None,
        }
    }

    /// An offer to a supplier that is not registered.
    pub(super) fn offer_to_a_new_supplier(&self, cnpj: Cnpj) -> Offer {
        let mut offer = self.offer();
        offer.supplier.cnpj = cnpj;
        offer.supplier.name = Some(SupplierName::parse("Nova Fornecedora S.A.").unwrap());
        offer.supplier.contact_name = Some(ContactName::parse("João").unwrap());
        offer
    }

    pub(super) fn advance(&self, payer: CompanyId, number: Option<&str>) -> DirectAdvance {
        DirectAdvance {
            payer,
            supplier: self.supplier.cnpj,
            invoice: self.invoice(number),
            external_reference: None,
        }
    }

    pub(super) fn invoice(&self, number: Option<&str>) -> Invoice {
        Invoice {
            amounts: InvoiceAmounts::from_cents(cents(1_250_001), cents(12_345)).unwrap(),
            due_date: self.due_in(60),
            number: number.map(|number| InvoiceNumber::parse(number).unwrap()),
        }
    }

    pub(super) fn due_in(&self, days: u64) -> DueDate {
        let day = calendar::today(self.now).checked_add_days(Days::new(days));
        DueDate::from_date(day.unwrap()).unwrap()
    }

    /// Makes an offer, and returns its operation.
    pub(super) async fn begin(&self, offer: &Offer) -> Operation {
        let offered = self.service.offer(offer, Actor::Company, None, self.now);
        created(offered.await.unwrap())
    }

    /// Makes a direct advance, and returns its operation.
    pub(super) async fn begin_directly(&self, advance: &DirectAdvance) -> Operation {
        let began = self
            .service
            .advance_directly(advance, Actor::Supplier, None, self.now);
        created(began.await.unwrap())
    }

    /// Executes `commands` one after the other; returns the operation after the last.
    pub(super) async fn play(&self, id: OperationId, commands: &[Command]) -> Operation {
        for command in commands {
            let done =
                self.service
                    .command(Viewer::Platform, id, command, Actor::Platform, self.now);
            done.await.unwrap();
        }
        self.stored(id).await
    }

    /// The operation as it is stored.
    pub(super) async fn stored(&self, id: OperationId) -> Operation {
        let found = self.host.queries().find(Viewer::Platform, id).await;
        found.unwrap().unwrap()
    }

    pub(super) async fn history(&self, id: OperationId) -> Vec<HistoryEntry> {
        self.host.queries().history(id).await.unwrap()
    }

    pub(super) fn new_key(&self) -> IdempotencyKey {
        IdempotencyKey::parse(&format!("Key:{:04}-{:04}", self.fresh, self.count())).unwrap()
    }

    pub(super) fn new_email(&self) -> Email {
        Email::parse(&format!("to{}.{}@example.com", self.fresh, self.count())).unwrap()
    }

    pub(super) fn new_company_id(&self) -> CompanyId {
        CompanyId::new(self.ids.uuid(self.now))
    }

    pub(super) fn new_extension_id(&self) -> ExtensionId {
        let number = u64::from(self.fresh) * 1_000 + self.count();
        ExtensionId::new(i64::try_from(number).unwrap()).unwrap()
    }

    /// An operator, or with no id the holder of the configured token.
    pub(super) fn operator(&self, name: &str, id: Option<OperatorId>) -> ActingOperator {
        ActingOperator {
            id,
            name: OperatorName::parse(name).unwrap(),
            request: RequestId::new(self.uuid()),
            address: IpAddr::from([0x2001, 0xdb8, 0, 0, 0, 0, 0, 7]),
        }
    }

    /// A named operator who acts for the first time.
    pub(super) fn new_operator(&self, name: &str) -> ActingOperator {
        self.operator(name, Some(OperatorId::new(self.uuid())))
    }

    pub(super) fn uuid(&self) -> uuid::Uuid {
        self.ids.uuid(self.now)
    }

    /// The tax id of a legal entity that no other case uses.
    pub(super) fn new_cnpj(&self) -> Cnpj {
        let root = 10_000_000 + u64::from(self.fresh) * 200 + self.count();
        checked(&format!("{root:08}0001"))
    }

    /// The tax id of an unregistered branch of the same legal entity.
    pub(super) fn unregistered_branch_of(&self, cnpj: Cnpj) -> Cnpj {
        let branch = 1_000 + self.count();
        checked(&format!("{}{branch:04}", cnpj.root().as_str()))
    }

    pub(super) fn earlier(&self, by: TimeDelta) -> Timestamp {
        self.now.saturating_sub(by)
    }

    pub(super) fn later(&self, by: TimeDelta) -> Timestamp {
        self.now.saturating_add(by)
    }

    /// A number that this scene has not used.
    fn count(&self) -> u64 {
        self.counted.fetch_add(1, Ordering::Relaxed)
    }
}

/// The tax id with these twelve characters; its check digits are found by trial.
fn checked(base: &str) -> Cnpj {
    let spelled = |check| Cnpj::parse(&format!("{base}{check:02}"));
    (0..100).find_map(|check| spelled(check).ok()).unwrap()
}

/// The input that the decision on `offer` needs, without a key.
pub(super) fn target_of(offer: &Offer) -> OfferTarget {
    OfferTarget {
        payer: offer.payer,
        supplier: offer.supplier.cnpj,
        invoice_number: offer.invoice.number.clone(),
        idempotency_key: None,
    }
}

fn service(host: &dyn Host, ids: &Arc<CountingIds>, policy: Policy) -> Operations {
    Operations::new(
        host.store(),
        Arc::<CountingIds>::clone(ids),
        Arc::new(AwkwardTexts),
        policy,
    )
}

pub(super) fn created(offered: OfferOutcome) -> Operation {
    match offered {
        OfferOutcome::Created { operation, .. } => *operation,
        OfferOutcome::Replayed { body } => panic!("replayed in place of created: {body}"),
    }
}

pub(super) fn cents(cents: i64) -> Money {
    Money::from_cents(cents).unwrap()
}

fn ample_credit() -> Credit {
    Credit {
        max_term_days: 180,
        max_invoice_amount: cents(InvoiceAmounts::MAX_CENTS),
    }
}
