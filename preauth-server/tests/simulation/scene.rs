//! The participants of every run: one payer, one supplier, their receivers, a few invoices and
//! keys.

use std::sync::Arc;

use chrono::{Days, TimeDelta};
use preauth_core::memory::{Company, Endpoint, MemoryStore};
use preauth_core::operation::{
    Credit, DirectAdvance, Invoice, InvoiceAmounts, Offer, OfferedSupplier,
};
use preauth_core::port::Subscription;
use preauth_core::value::{
    ApiKeyId, Cnpj, CompanyId, CompanyKind, CompanyName, DueDate, Email, EndpointId, EventType,
    EventTypeSet, IdempotencyKey, InvoiceNumber, KeyName, Money, Permission, PersonName, Scope,
    Timestamp, UserId, calendar,
};
use preauth_server::access::KeyHash;
use preauth_server::directory::{self, SealedSecret};
use preauth_server::secret::Vault;
use preauth_server::store::Stores;
use secrecy::SecretString;
use uuid::Uuid;

use crate::clock::{SimClock, start};
use crate::letterbox::Letterboxes;

/// Few, so that callers collide.
pub(crate) const INVOICES: u64 = 4;
/// The number of idempotency keys per invoice.
pub(crate) const KEYS_PER_INVOICE: u64 = 3;

/// The addresses of offers, by invoice: two mailboxes, one of them in three spellings.
const ADDRESSES: [&str; 4] = [
    "financeiro@fornecedor.com.br",
    "Financeiro@fornecedor.com.br",
    "financeiro+notas@fornecedor.com.br",
    "contato@fornecedor.com.br",
];

const PAYER_CNPJ: &str = "11222333000181";
const SECRET: &str = "whsec_c2ltdWxhdGlvbi1vbmx5LXNlY3JldC0wMQ";

/// A webhook endpoint of the scene.
#[derive(Clone, Debug)]
pub(crate) struct Subscriber {
    pub(crate) endpoint: EndpointId,
    pub(crate) company: CompanyId,
    pub(crate) url: String,
    pub(crate) events: EventTypeSet,
}

impl Subscriber {
    pub(crate) const fn subscription(&self) -> Subscription {
        Subscription {
            endpoint: self.endpoint,
            head_office: self.company,
            events: self.events,
        }
    }
}

/// The initial state of every run.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    pub(crate) payer: CompanyId,
    pub(crate) supplier: Cnpj,
    /// The payer's user who is responsible for its keys.
    user: UserId,
    /// The payer's, subscribed to every event, and the supplier's, with a selection.
    pub(crate) subscribers: [Subscriber; 2],
    pub(crate) vault: Vault,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let company = |number| CompanyId::new(Uuid::from_u128(number));
        let subscriber = |company, number, events| Subscriber {
            endpoint: EndpointId::new(Uuid::from_u128(number)),
            company,
            url: format!("https://receiver-{number}.example.com/"),
            events,
        };
        let chosen = EventType::ALL.iter().copied().filter(|event| {
            !matches!(
                event,
                EventType::PreAuthorizationExpired | EventType::AnticipationBilled
            )
        });
        Self {
            payer: company(1),
            supplier: Cnpj::parse("12ABC34501DE35").unwrap(),
            user: UserId::new(Uuid::from_u128(21)),
            subscribers: [
                subscriber(company(1), 11, EventTypeSet::all()),
                subscriber(company(2), 12, chosen.collect()),
            ],
            vault: Vault::new(&[7; 32]),
        }
    }

    /// A host in memory with the scene's companies and endpoints.
    pub(crate) fn store(&self, clock: Arc<SimClock>) -> Arc<MemoryStore> {
        let store = MemoryStore::new(move || preauth_server::clock::Clock::now(&*clock));
        let [payer, supplier] = &self.subscribers;
        let payer_cnpj = Cnpj::parse(PAYER_CNPJ).unwrap();
        store.add_company(registered(payer, payer_cnpj, CompanyKind::Construction));
        store.add_company(registered(supplier, self.supplier, CompanyKind::Supplier));
        store.set_credit(self.payer, credit());
        for subscriber in &self.subscribers {
            store.add_endpoint(Endpoint {
                id: subscriber.endpoint,
                head_office: subscriber.company,
                url: subscriber.url.clone(),
                events: subscriber.events,
                sealed_secret: self.sealed(subscriber.endpoint, SECRET).0,
                registered_at: start().saturating_sub(TimeDelta::days(1)),
            });
        }
        Arc::new(store)
    }

    /// Registers the scene's companies and endpoints in a real database.
    pub(crate) async fn settle(&self, stores: &Stores) {
        let directory = &stores.directory;
        let [payer, supplier] = &self.subscribers;
        for (subscriber, cnpj, kind) in [
            (
                payer,
                Cnpj::parse(PAYER_CNPJ).unwrap(),
                CompanyKind::Construction,
            ),
            (supplier, self.supplier, CompanyKind::Supplier),
        ] {
            let registered_at = start().saturating_sub(TimeDelta::days(1));
            let company = directory::Company {
                id: subscriber.company,
                cnpj,
                name: CompanyName::parse("Empresa Exemplo").unwrap(),
                kind,
                head_office: None,
                contact: None,
                is_invited: false,
                created_at: registered_at,
                suspension: None,
            };
            directory.add_company(&company, None).await.unwrap();
            let endpoint = directory::Endpoint {
                id: subscriber.endpoint,
                company: subscriber.company,
                url: subscriber.url.clone(),
                events: subscriber.events,
                paused_at: None,
                created_at: registered_at,
                last_success_at: None,
                earlier_secrets_until: None,
            };
            let secret = self.sealed(subscriber.endpoint, SECRET);
            directory.add_endpoint(&endpoint, &secret).await.unwrap();
        }
        let user = directory::User {
            id: self.user,
            company: self.payer,
            name: PersonName::parse("Ana").unwrap(),
            email: Email::parse("ana@construtora.example.com").unwrap(),
            permissions: Permission::ALL.iter().copied().collect(),
            active: true,
            created_at: start(),
        };
        directory.add_user(&user, None).await.unwrap();
        let set = directory.set_credit(self.payer, credit(), start());
        set.await.unwrap();
    }

    pub(crate) fn offer(&self, invoice: usize) -> Offer {
        Offer {
            payer: self.payer,
            supplier: OfferedSupplier {
                cnpj: self.supplier,
                email: Email::parse(ADDRESSES[invoice % ADDRESSES.len()]).unwrap(),
                name: None,
                contact_name: None,
                phone: None,
            },
            invoice: Self::invoice(invoice),
            external_reference: None,
            file: None,
        }
    }

    /// A direct advance for one of the few invoices, whose number has another Unicode form than in
    /// offers, or without an invoice number.
    pub(crate) fn advance(&self, invoice: Option<usize>) -> DirectAdvance {
        DirectAdvance {
            payer: self.payer,
            supplier: self.supplier,
            invoice: match invoice {
                Some(invoice) => Self::decomposed(invoice),
                None => Invoice {
                    number: None,
                    ..Self::invoice(0)
                },
            },
            external_reference: None,
        }
    }

    /// The same invoice with its number in decomposed Unicode form.
    pub(crate) fn decomposed(invoice: usize) -> Invoice {
        let number = format!("NF-e\u{301}{invoice}");
        Invoice {
            number: Some(InvoiceNumber::parse(&number).unwrap()),
            ..Self::invoice(invoice)
        }
    }

    /// One of the few invoices; its amounts are derived from its index.
    pub(crate) fn invoice(invoice: usize) -> Invoice {
        let number = i64::try_from(invoice).unwrap();
        let cents = |cents| Money::from_cents(cents).unwrap();
        let amount = cents(1_000_001 + number * 7_919);
        let withheld = cents(number * 101);
        let due = calendar::today(start()).checked_add_days(Days::new(90));
        Invoice {
            amounts: InvoiceAmounts::from_cents(amount, withheld).unwrap(),
            due_date: DueDate::from_date(due.unwrap()).unwrap(),
            number: Some(InvoiceNumber::parse(&format!("NF-\u{e9}{invoice}")).unwrap()),
        }
    }

    /// One of a few companies that are registered during the run.
    pub(crate) fn company(id: Uuid, number: u64, created_at: Timestamp) -> directory::Company {
        let spelled = |check| format!("{:012}{check:02}", 200_000_000_000 + number);
        directory::Company {
            id: CompanyId::new(id),
            cnpj: (0..100)
                .find_map(|check| Cnpj::parse(&spelled(check)).ok())
                .unwrap(),
            name: CompanyName::parse("Empresa Nova").unwrap(),
            kind: CompanyKind::Supplier,
            head_office: None,
            contact: None,
            is_invited: false,
            created_at,
            suspension: None,
        }
    }

    /// A key of the payer, and its hash.
    pub(crate) fn api_key(&self, id: Uuid, created_at: Timestamp) -> (directory::ApiKey, KeyHash) {
        let key = directory::ApiKey {
            id: ApiKeyId::new(id),
            company: self.payer,
            name: KeyName::parse("ERP").unwrap(),
            responsible_user: self.user,
            scopes: [Scope::PreauthRead].into_iter().collect(),
            prefix: "service_sk_abc".to_owned(),
            created_at,
            expires_at: created_at.saturating_add(TimeDelta::days(365)),
            revoked_at: None,
            last_used_at: None,
        };
        let hash = [*id.as_bytes(), *id.as_bytes()].concat();
        (key, KeyHash(hash.try_into().unwrap()))
    }

    /// The owner of this address, past and future addresses included.
    pub(crate) fn subscriber(&self, url: &str) -> &Subscriber {
        let mut subscribers = self.subscribers.iter();
        subscribers
            .find(|subscriber| url.starts_with(&subscriber.url))
            .unwrap()
    }

    pub(crate) fn subscriber_of(&self, endpoint: EndpointId) -> &Subscriber {
        let mut subscribers = self.subscribers.iter();
        subscribers.find(|it| it.endpoint == endpoint).unwrap()
    }

    /// The initial knowledge of the endpoints' owners.
    pub(crate) fn letterboxes(&self) -> Letterboxes {
        let letterboxes = Letterboxes::default();
        for subscriber in &self.subscribers {
            letterboxes.add(subscriber.endpoint, &subscriber.url, SECRET);
        }
        letterboxes
    }

    /// A secret as the platform stores it.
    pub(crate) fn sealed(&self, endpoint: EndpointId, secret: &str) -> SealedSecret {
        let secret = SecretString::from(secret);
        self.vault.seal(endpoint, &secret).unwrap()
    }
}

/// The `number`-th key of an invoice.
pub(crate) fn key(invoice: usize, number: u64) -> IdempotencyKey {
    IdempotencyKey::parse(&format!("invoice-{invoice}-key-{number}")).unwrap()
}

fn credit() -> Credit {
    Credit {
        max_term_days: 180,
        max_invoice_amount: Money::from_cents(InvoiceAmounts::MAX_CENTS).unwrap(),
    }
}

fn registered(subscriber: &Subscriber, cnpj: Cnpj, kind: CompanyKind) -> Company {
    Company {
        id: subscriber.company,
        head_office: None,
        cnpj,
        name: CompanyName::parse("Empresa Exemplo").unwrap(),
        kind,
    }
}
