//! Who takes part in every run: one payer, one supplier, their receivers, a few invoices and keys.

use std::sync::Arc;

use chrono::{Days, TimeDelta};
use preauth_core::memory::{Company, CompanyKind, Endpoint, MemoryStore};
use preauth_core::operation::{
    Credit, DirectAdvance, Invoice, InvoiceAmounts, Offer, OfferedSupplier,
};
use preauth_core::value::{
    Cnpj, CompanyId, CompanyName, DueDate, Email, EndpointId, EventType, EventTypeSet,
    IdempotencyKey, InvoiceNumber, Money, calendar,
};
use preauth_server::directory::{self, SealedSecret};
use preauth_server::secret::Vault;
use preauth_server::store::Stores;
use secrecy::SecretString;
use uuid::Uuid;

use crate::clock::{SimClock, start};
use crate::letterbox::Letterboxes;

/// Few, so that callers meet.
pub(crate) const INVOICES: u64 = 4;
/// How many idempotency keys are used for each invoice.
pub(crate) const KEYS_PER_INVOICE: u64 = 3;

const PAYER_CNPJ: &str = "11222333000181";
const SECRET: &str = "whsec_c2ltdWxhdGlvbi1vbmx5LXNlY3JldC0wMQ";

/// A webhook endpoint of the scene.
#[derive(Clone, Debug)]
pub(crate) struct Hearing {
    pub(crate) endpoint: EndpointId,
    pub(crate) company: CompanyId,
    pub(crate) url: String,
    pub(crate) events: EventTypeSet,
}

/// What every run begins with.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    pub(crate) payer: CompanyId,
    pub(crate) supplier: Cnpj,
    /// The payer's, which hears everything, and the supplier's, which chose.
    pub(crate) hearings: [Hearing; 2],
    pub(crate) vault: Vault,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let company = |number| CompanyId::new(Uuid::from_u128(number));
        let hearing = |company, number, events| Hearing {
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
            hearings: [
                hearing(company(1), 11, EventTypeSet::all()),
                hearing(company(2), 12, chosen.collect()),
            ],
            vault: Vault::new(&[7; 32]),
        }
    }

    /// A host in memory with the scene's companies and endpoints.
    pub(crate) fn store(&self, clock: Arc<SimClock>) -> Arc<MemoryStore> {
        let store = MemoryStore::new(move || preauth_server::clock::Clock::now(&*clock));
        let [payer, supplier] = &self.hearings;
        let payer_cnpj = Cnpj::parse(PAYER_CNPJ).unwrap();
        store.add_company(registered(payer, payer_cnpj, CompanyKind::Construction));
        store.add_company(registered(supplier, self.supplier, CompanyKind::Supplier));
        store.set_credit(self.payer, credit());
        for hearing in &self.hearings {
            store.add_endpoint(Endpoint {
                id: hearing.endpoint,
                head_office: hearing.company,
                url: hearing.url.clone(),
                events: hearing.events,
                sealed_secret: self.sealed(hearing.endpoint, SECRET).0,
                registered_at: start().saturating_sub(TimeDelta::days(1)),
            });
        }
        Arc::new(store)
    }

    /// Registers the scene's companies and endpoints in a real database.
    pub(crate) async fn settle(&self, stores: &Stores) {
        let directory = &stores.directory;
        let [payer, supplier] = &self.hearings;
        for (hearing, cnpj, kind) in [
            (
                payer,
                Cnpj::parse(PAYER_CNPJ).unwrap(),
                directory::CompanyKind::Construction,
            ),
            (supplier, self.supplier, directory::CompanyKind::Supplier),
        ] {
            let registered_at = start().saturating_sub(TimeDelta::days(1));
            let company = directory::Company {
                id: hearing.company,
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
                id: hearing.endpoint,
                company: hearing.company,
                url: hearing.url.clone(),
                events: hearing.events,
                paused_at: None,
                created_at: registered_at,
                last_success_at: None,
            };
            let secret = self.sealed(hearing.endpoint, SECRET);
            directory.add_endpoint(&endpoint, &secret).await.unwrap();
        }
        let set = directory.set_credit(self.payer, credit(), start());
        set.await.unwrap();
    }

    pub(crate) fn offer(&self, invoice: usize) -> Offer {
        Offer {
            payer: self.payer,
            supplier: OfferedSupplier {
                cnpj: self.supplier,
                email: Email::parse("financeiro@fornecedor.com.br").unwrap(),
                name: None,
                contact_name: None,
                phone: None,
            },
            invoice: Self::invoice(invoice),
            external_reference: None,
            file: None,
        }
    }

    /// A direct advance of one of the few invoices, whose number is spelled in another form than in
    /// offers, or of one without a number.
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

    /// The same invoice with its number spelled as some systems do.
    pub(crate) fn decomposed(invoice: usize) -> Invoice {
        let number = format!("NF-e\u{301}{invoice}");
        Invoice {
            number: Some(InvoiceNumber::parse(&number).unwrap()),
            ..Self::invoice(invoice)
        }
    }

    /// One of the few invoices; its amounts follow from its number.
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

    /// Whose address this is, or was, or will be.
    pub(crate) fn hearing(&self, url: &str) -> &Hearing {
        let mut hearings = self.hearings.iter();
        hearings
            .find(|hearing| url.starts_with(&hearing.url))
            .unwrap()
    }

    pub(crate) fn hearing_of(&self, endpoint: EndpointId) -> &Hearing {
        let mut hearings = self.hearings.iter();
        hearings.find(|it| it.endpoint == endpoint).unwrap()
    }

    /// What the owners of the endpoints know in the beginning.
    pub(crate) fn letterboxes(&self) -> Letterboxes {
        let letterboxes = Letterboxes::default();
        for hearing in &self.hearings {
            letterboxes.add(hearing.endpoint, &hearing.url, SECRET);
        }
        letterboxes
    }

    /// A secret as the platform keeps it.
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

fn registered(hearing: &Hearing, cnpj: Cnpj, kind: CompanyKind) -> Company {
    Company {
        id: hearing.company,
        head_office: None,
        cnpj,
        name: CompanyName::parse("Empresa Exemplo").unwrap(),
        kind,
    }
}
