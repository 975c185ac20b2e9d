//! A store on a fresh database, with the records that most tests start with.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use chrono::{Days, TimeDelta};
use preauth_core::Policy;
use preauth_core::memory::CountingIds;
use preauth_core::operation::{
    Actor, Credit, Invoice, InvoiceAmounts, Offer, OfferedSupplier, Operation,
};
use preauth_core::port::{
    IdSource, Intake, InvoiceEvent, OperationEvent, OrderEvent, PageRequest, Render,
};
use preauth_core::service::{OfferOutcome, Operations};
use preauth_core::value::{
    ApiKeyId, Cnpj, CompanyId, CompanyKind, CompanyName, DueDate, Email, EndpointId, EventId,
    EventTypeSet, IdempotencyKey, InvoiceNumber, KeyName, Money, Permission, PersonName, Scope,
    Timestamp, UserId, calendar,
};
use preauth_server::access::KeyHash;
use preauth_server::directory::{
    ApiKey, Company, Directory, DirectoryError, Endpoint, SealedSecret, User,
};
use preauth_server::store::{Stores, open};
use uuid::Uuid;

use crate::database::{Database, Sql};

pub(crate) const FIRST_PAGE: PageRequest = PageRequest {
    page: 1,
    limit: 100,
};

pub(crate) struct Fixture {
    pub(crate) stores: Stores,
    pub(crate) service: Operations,
    /// Direct access to the database, without the store.
    pub(crate) sql: Sql,
    pub(crate) database: Arc<Database>,
    pub(crate) now: Timestamp,
    ids: Arc<CountingIds>,
    counted: AtomicU64,
}

impl Fixture {
    pub(crate) async fn new() -> Self {
        Self::on(&Arc::new(Database::fresh().await), 1).await
    }

    /// A store on a database that may be in use; `namespace` keeps its ids distinct.
    pub(crate) async fn on(database: &Arc<Database>, namespace: u64) -> Self {
        let stores = open(&database.url()).await.unwrap();
        let ids = Arc::new(CountingIds::in_namespace(namespace));
        Self {
            service: service(&stores, &ids),
            sql: database.sql().await,
            stores,
            database: Arc::clone(database),
            now: Timestamp::parse("2026-11-21T12:00:00.000Z").unwrap(),
            ids,
            counted: AtomicU64::new(namespace * 10_000),
        }
    }

    /// Another service over the same store, whose commits hand their deliveries over.
    pub(crate) fn service_handing_over_to(&self, intake: Intake) -> Operations {
        service(&self.stores, &self.ids).handing_over_to(intake)
    }

    pub(crate) fn directory(&self) -> &dyn Directory {
        &*self.stores.directory
    }

    pub(crate) fn uuid(&self) -> Uuid {
        self.ids.uuid(self.now)
    }

    pub(crate) fn later(&self, by: TimeDelta) -> Timestamp {
        self.now.saturating_add(by)
    }

    /// A company, not yet registered.
    pub(crate) fn company(&self, kind: CompanyKind) -> Company {
        Company {
            id: CompanyId::new(self.uuid()),
            cnpj: self.new_cnpj(),
            name: CompanyName::parse("Empresa Ação & Cia").unwrap(),
            kind,
            head_office: None,
            contact: None,
            is_invited: false,
            created_at: self.now,
            suspension: None,
        }
    }

    pub(crate) fn branch_of(&self, head_office: CompanyId) -> Company {
        Company {
            head_office: Some(head_office),
            ..self.company(CompanyKind::Construction)
        }
    }

    pub(crate) async fn add(&self, company: Company) -> CompanyId {
        self.directory().add_company(&company, None).await.unwrap();
        company.id
    }

    /// A head office with credit.
    pub(crate) async fn payer(&self) -> CompanyId {
        let payer = self.add(self.company(CompanyKind::Construction)).await;
        let credit = Credit {
            max_term_days: 180,
            max_invoice_amount: cents(InvoiceAmounts::MAX_CENTS),
        };
        let set = self.directory().set_credit(payer, credit, self.now);
        set.await.unwrap();
        payer
    }

    /// A user, not yet added.
    pub(crate) fn user(&self, company: CompanyId) -> User {
        let n = self.count();
        User {
            id: UserId::new(self.uuid()),
            company,
            name: PersonName::parse("Ana").unwrap(),
            email: Email::parse(&format!("ana{n}@example.com")).unwrap(),
            permissions: Permission::ALL.iter().copied().collect(),
            active: true,
            created_at: self.now,
        }
    }

    /// A key, not yet stored, and its hash.
    pub(crate) fn api_key(&self, company: CompanyId, user: UserId) -> (ApiKey, KeyHash) {
        let id = self.uuid();
        let key = ApiKey {
            id: ApiKeyId::new(id),
            company,
            name: KeyName::parse("ERP").unwrap(),
            responsible_user: user,
            scopes: [Scope::PreauthRead, Scope::NotesRead].into_iter().collect(),
            prefix: "service_sk_abc".to_owned(),
            created_at: self.now,
            expires_at: self.later(TimeDelta::days(30)),
            revoked_at: None,
            last_used_at: None,
        };
        let hash = [*id.as_bytes(), *id.as_bytes()].concat();
        (key, KeyHash(hash.try_into().unwrap()))
    }

    /// A stored key of a new user of a new company.
    pub(crate) async fn known_key(&self) -> (ApiKey, KeyHash) {
        let company = self.add(self.company(CompanyKind::Construction)).await;
        let user = self.user(company);
        self.directory().add_user(&user, None).await.unwrap();
        let (key, hash) = self.api_key(company, user.id);
        self.directory()
            .add_api_key(&key, &hash, None)
            .await
            .unwrap();
        (key, hash)
    }

    /// An endpoint, not yet registered.
    pub(crate) fn endpoint(&self, company: CompanyId) -> Endpoint {
        Endpoint {
            id: EndpointId::new(self.uuid()),
            company,
            url: "https://erp.example.com/webhooks".to_owned(),
            events: EventTypeSet::all(),
            paused_at: None,
            created_at: self.now,
            last_success_at: None,
            earlier_secrets_until: None,
        }
    }

    pub(crate) async fn add_endpoint(&self, company: CompanyId) -> Endpoint {
        self.try_add_endpoint(company).await.unwrap()
    }

    pub(crate) async fn try_add_endpoint(
        &self,
        company: CompanyId,
    ) -> Result<Endpoint, DirectoryError> {
        let (endpoint, secret) = (self.endpoint(company), secret(1));
        let added = self.directory().add_endpoint(&endpoint, &secret);
        added.await.map(|()| endpoint)
    }

    /// Creates an offer with a new invoice to a new supplier.
    pub(crate) async fn offer(&self, payer: CompanyId) -> Operation {
        self.make(&self.new_offer(payer)).await
    }

    /// Creates an offer under a new key.
    pub(crate) async fn make(&self, offer: &Offer) -> Operation {
        let key = IdempotencyKey::parse(&format!("offer-number-{}", self.count())).unwrap();
        let offered = self
            .service
            .offer(offer, Actor::Company, Some(&key), self.now);
        match offered.await.unwrap() {
            OfferOutcome::Created { operation, .. } => *operation,
            OfferOutcome::Replayed { body } => panic!("replayed: {body}"),
        }
    }

    /// Creates an offer at another time.
    pub(crate) async fn offer_at(&self, payer: CompanyId, now: Timestamp) -> Operation {
        let mut offer = self.new_offer(payer);
        let day = calendar::today(now).checked_add_days(Days::new(60));
        offer.invoice.due_date = DueDate::from_date(day.unwrap()).unwrap();
        match self
            .service
            .offer(&offer, Actor::Company, None, now)
            .await
            .unwrap()
        {
            OfferOutcome::Created { operation, .. } => *operation,
            OfferOutcome::Replayed { body } => panic!("replayed: {body}"),
        }
    }

    /// An offer, not yet created.
    pub(crate) fn new_offer(&self, payer: CompanyId) -> Offer {
        let n = self.count();
        let day = calendar::today(self.now).checked_add_days(Days::new(60));
        Offer {
            payer,
            supplier: OfferedSupplier {
                cnpj: self.new_cnpj(),
                email: Email::parse("fin@example.com").unwrap(),
                name: Some("Fornecedora".parse().unwrap()),
                contact_name: Some("João".parse().unwrap()),
                phone: Some("11 5555-1234".parse().unwrap()),
            },
            invoice: Invoice {
                amounts: InvoiceAmounts::from_cents(cents(1_250_001), cents(12_345)).unwrap(),
                due_date: DueDate::from_date(day.unwrap()).unwrap(),
                number: Some(InvoiceNumber::parse(&format!("NF-{n}")).unwrap()),
            },
            external_reference: None,
            file: None,
        }
    }

    fn new_cnpj(&self) -> Cnpj {
        checked(&format!("{:08}0001", 10_000_000 + self.count()))
    }

    /// The tax id of an unregistered branch of the same legal entity.
    pub(crate) fn unregistered_branch_of(&self, cnpj: Cnpj) -> Cnpj {
        checked(&format!(
            "{}{:04}",
            cnpj.root().as_str(),
            2 + self.count() % 9_000
        ))
    }

    fn count(&self) -> u64 {
        self.counted.fetch_add(1, Ordering::Relaxed)
    }
}

/// The tax id with these twelve characters; its check digits are found by trial.
fn checked(base: &str) -> Cnpj {
    let spelled = |check| Cnpj::parse(&format!("{base}{check:02}"));
    (0..100).find_map(|check| spelled(check).ok()).unwrap()
}

pub(crate) fn cents(cents: i64) -> Money {
    Money::from_cents(cents).unwrap()
}

pub(crate) fn secret(byte: u8) -> SealedSecret {
    SealedSecret(vec![byte, 0, 0xFF])
}

fn service(stores: &Stores, ids: &Arc<CountingIds>) -> Operations {
    Operations::new(
        Arc::clone(&stores.store),
        Arc::<CountingIds>::clone(ids),
        Arc::new(ShortTexts),
        Policy::default(),
    )
}

struct ShortTexts;

impl Render for ShortTexts {
    fn reply(&self, operation: &Operation) -> String {
        format!("reply of {}", operation.id)
    }

    fn operation_event(&self, event: &OperationEvent<'_>) -> String {
        format!("{} of {}", event.event_type, event.operation.id)
    }

    fn order_event(&self, event: &OrderEvent<'_>) -> String {
        format!("{} of {}", event.event_type, event.order.id)
    }

    fn invoice_event(&self, event: &InvoiceEvent<'_>) -> String {
        format!("receipt of {}", event.invoice.id)
    }

    fn test_event(&self, id: EventId, _at: Timestamp) -> String {
        format!("test {id}")
    }

    fn offer_mail(&self, operation: &Operation, _is_invitation: bool) -> String {
        format!("mail of {}", operation.id)
    }
}
