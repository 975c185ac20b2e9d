//! A database with at least one of everything that the audit checks.

mod further;
mod sending;

use std::net::Ipv4Addr;
use std::sync::Arc;

use chrono::{Days, TimeDelta};
use preauth_core::Policy;
use preauth_core::access::OperatorRole;
use preauth_core::operation::{
    Actor, Command, Credit, DirectAdvance, Invoice, InvoiceAmounts, InvoiceFile, Offer,
    OfferedSupplier, ReprovedBy,
};
use preauth_core::payment_order::OrderCommand;
use preauth_core::port::{ActingOperator, Audited, IdSource, OrderTarget, Viewer};
use preauth_core::service::{OfferOutcome, Operations};
use preauth_core::value::{
    Cnpj, CompanyId, CompanyKind, CompanyName, DueDate, Email, EndpointId, EventTypeSet,
    ExtensionId, IdempotencyKey, InvoiceNumber, Money, OperationId, OperatorName, PaymentOrderId,
    Permission, PersonName, Reason, RequestId, Timestamp, UserId, calendar,
};
use preauth_server::audit_trail::AuditedRequest;
use preauth_server::clock::{Clock, SystemClock};
use preauth_server::directory::{AuditOutcome, Company, Endpoint, SealedSecret, Sealing, User};
use preauth_server::feed::Look;
use preauth_server::http::WireRender;
use preauth_server::ids::RandomIds;
use preauth_server::store::{self, Stores};
use test_support::Scratch;
use uuid::Uuid;

const PAYER: u128 = 1;
const SUPPLIER: u128 = 2;
const STRANGER: u128 = 3;
/// Longer than an offer's lifetime.
const LONG_AGO: TimeDelta = TimeDelta::days(40);

/// Fills a database, at times that it chooses.
struct World {
    stores: Stores,
    service: Operations,
    now: Timestamp,
}

/// Fills a database with a company, a supplier, an unrelated company and these operations, in this
/// order: concluded after an extension; cancelled; expired; offered; reopened after a reproval;
/// with an open extension. Also a paid payment order; deliveries that are delivered, failed,
/// pending and resent, and an endpoint that was paused for a failure; mails that are sent, failed,
/// canceled and pending; an audit log with two seals, of two rows and of one.
pub(crate) async fn live_in(database: &Scratch) {
    let world = fill(database).await;
    world.stores.lifecycle.close().await;
}

/// The same, and further operations and payment orders, so that there is one in each status; a blocked
/// supplier, a key, and operators of each role.
pub(crate) async fn live_long_in(database: &Scratch) {
    let world = fill(database).await;
    world.leave_one_in_each_status().await;
    world.add_credentials().await;
    world.stores.lifecycle.close().await;
}

async fn fill(database: &Scratch) -> World {
    store::migrate(&database.url()).await.unwrap();
    let stores = store::open(&database.url()).await.unwrap();
    let world = World::new(stores).await;
    let (now, then) = (world.now, world.now.saturating_sub(LONG_AGO));
    world.deliver_all().await;
    let concluded = world.offer("NF-1", Some("key-of-nf-1"), then).await;
    world.until_billed(concluded, then).await;
    world.extend(concluded, 1, then).await;
    let id = ExtensionId::new(1).unwrap();
    for command in [Command::ConcludeExtension { id }, Command::Conclude] {
        world.command(concluded, command, then).await;
    }
    world.number_events().await;
    let cancelled = world.offer("NF-2", Some("key-of-nf-2"), now).await;
    world.command(cancelled, Command::Cancel, now).await;
    let expired = world.offer("NF-3", None, then).await;
    world.service.expire(expired, now).await.unwrap();
    world.offer("NF-4", Some("key-of-nf-4"), now).await;
    let reopened = world.advance("NF-5", now).await;
    let reproved = Command::Reprove {
        by: ReprovedBy::Company,
        reason: Some(Reason::parse("Nota ilegível").unwrap()),
    };
    for command in [reproved, Command::Reopen] {
        world.command(reopened, command, now).await;
    }
    let extended = world.offer("NF-6", None, now).await;
    world.until_billed(extended, now).await;
    world.extend(extended, 2, now).await;
    world.order(now).await;
    world.deliver_all().await;
    world.offer("NF-7", None, now).await;
    world.send_mails().await;
    world.fail_some().await;
    world.seal_audit_log().await;
    world.number_events().await;
    world
}

impl World {
    async fn new(stores: Stores) -> Self {
        let now = SystemClock.now();
        let service = Operations::new(
            Arc::clone(&stores.store),
            Arc::new(RandomIds),
            Arc::new(WireRender),
            Policy::default(),
        );
        let world = Self {
            stores,
            service,
            now,
        };
        world
            .register(PAYER, "11222333000181", CompanyKind::Construction)
            .await;
        world
            .register(SUPPLIER, "12ABC34501DE35", CompanyKind::Supplier)
            .await;
        world
            .register(STRANGER, "11444777000161", CompanyKind::Supplier)
            .await;
        let credit = Credit {
            max_term_days: 180,
            max_invoice_amount: Money::from_cents(InvoiceAmounts::MAX_CENTS).unwrap(),
        };
        let directory = &world.stores.directory;
        directory
            .set_credit(company(PAYER), credit, now)
            .await
            .unwrap();
        for (number, owner) in [(11, PAYER), (12, SUPPLIER)] {
            world.add_user(number, owner).await;
            let endpoint = Endpoint {
                id: EndpointId::new(Uuid::from_u128(number)),
                company: company(owner),
                url: "https://erp.example.com/".to_owned(),
                events: EventTypeSet::all(),
                paused_at: None,
                created_at: now.saturating_sub(LONG_AGO),
                last_success_at: None,
                earlier_secrets_until: None,
            };
            let secret = SealedSecret(vec![1]);
            directory.add_endpoint(&endpoint, &secret).await.unwrap();
        }
        world
    }

    async fn register(&self, number: u128, cnpj: &str, kind: CompanyKind) {
        let company = Company {
            id: company(number),
            cnpj: Cnpj::parse(cnpj).unwrap(),
            name: CompanyName::parse("Exemplo S.A.").unwrap(),
            kind,
            head_office: None,
            contact: None,
            is_invited: false,
            created_at: self.now.saturating_sub(LONG_AGO),
            suspension: None,
        };
        self.stores
            .directory
            .add_company(&company, None)
            .await
            .unwrap();
    }

    async fn add_user(&self, number: u128, owner: u128) {
        let user = User {
            id: UserId::new(Uuid::from_u128(number)),
            company: company(owner),
            name: PersonName::parse("Ana").unwrap(),
            email: Email::parse("ana@example.com").unwrap(),
            permissions: Permission::ALL.iter().copied().collect(),
            active: true,
            created_at: self.now,
        };
        self.stores.directory.add_user(&user, None).await.unwrap();
    }

    async fn offer(&self, number: &str, key: Option<&str>, at: Timestamp) -> OperationId {
        let offer = Offer {
            payer: company(PAYER),
            supplier: OfferedSupplier {
                cnpj: Cnpj::parse("12ABC34501DE35").unwrap(),
                email: Email::parse("fin@example.com").unwrap(),
                name: None,
                contact_name: None,
                phone: None,
            },
            invoice: self.invoice(number),
            external_reference: None,
            file: Some(InvoiceFile {
                name: "nota.pdf".to_owned(),
                media_type: "application/pdf".to_owned(),
                size: 1_000,
                sha256: [7; 32],
            }),
        };
        let key = key.map(|key| IdempotencyKey::parse(key).unwrap());
        let offered = self.service.offer(&offer, Actor::Company, key.as_ref(), at);
        created(offered.await.unwrap())
    }

    async fn advance(&self, number: &str, at: Timestamp) -> OperationId {
        let advance = DirectAdvance {
            payer: company(PAYER),
            supplier: Cnpj::parse("12ABC34501DE35").unwrap(),
            invoice: self.invoice(number),
            external_reference: None,
        };
        let advanced = self
            .service
            .advance_directly(&advance, Actor::Supplier, None, at);
        created(advanced.await.unwrap())
    }

    fn invoice(&self, number: &str) -> Invoice {
        let cents = |cents| Money::from_cents(cents).unwrap();
        let day = calendar::today(self.now).checked_add_days(Days::new(90));
        Invoice {
            amounts: InvoiceAmounts::from_cents(cents(1_234_567), cents(89)).unwrap(),
            due_date: DueDate::from_date(day.unwrap()).unwrap(),
            number: Some(InvoiceNumber::parse(number).unwrap()),
        }
    }

    async fn command(&self, id: OperationId, command: Command, at: Timestamp) {
        let done = self
            .service
            .command(Viewer::Platform, id, &command, Actor::Platform, at);
        done.await.unwrap();
    }

    async fn until_billed(&self, id: OperationId, at: Timestamp) {
        let net_amount = Money::from_cents(1_200_000).unwrap();
        for command in [
            Command::Request,
            Command::Approve,
            Command::Release { net_amount },
            Command::Pay,
            Command::Bill,
        ] {
            self.command(id, command, at).await;
        }
    }

    async fn extend(&self, operation: OperationId, number: i64, at: Timestamp) {
        let id = self.stores.directory.reserve_extension().await.unwrap();
        assert_eq!(id.get(), number);
        let day = calendar::today(self.now).checked_add_days(Days::new(100));
        let create = Command::CreateExtension {
            id,
            new_due_date: DueDate::from_date(day.unwrap()).unwrap(),
            total_amount: Money::from_cents(1_300_000).unwrap(),
        };
        self.command(operation, create, at).await;
    }

    async fn order(&self, at: Timestamp) {
        let id = self.new_order(at).await;
        let on = Some(calendar::today(at));
        for command in [OrderCommand::Schedule { on }, OrderCommand::Pay] {
            self.service.order_command(id, &command, at).await.unwrap();
        }
    }

    async fn new_order(&self, at: Timestamp) -> PaymentOrderId {
        let target = OrderTarget {
            payer: company(PAYER),
            supplier: Cnpj::parse("12ABC34501DE35").unwrap(),
            operation: None,
        };
        let amount = Money::from_cents(777_777).unwrap();
        let order = self.service.create_order(&target, amount, None, None, at);
        order.await.unwrap().id
    }

    /// On PostgreSQL events get their numbers after the commit, in batches.
    async fn number_events(&self) {
        let look = Look {
            now: self.now,
            kept_since: self.now.saturating_sub(LONG_AGO),
            since: None,
        };
        self.stores.numbers.number(look).await.unwrap();
    }

    async fn seal_audit_log(&self) {
        let directory = &self.stores.directory;
        for rows in [2, 1] {
            for _ in 0..rows {
                let request = Arc::new(request_of_an_operator(self.now));
                let left = directory.leave_row(request, AuditOutcome::Done).await;
                left.unwrap();
            }
            let outcome = directory.seal(self.now, None).await.unwrap();
            assert!(matches!(outcome, Sealing::Sealed { rows: sealed, .. } if sealed == rows));
        }
        let idle = directory.seal(self.now, None).await.unwrap();
        assert!(matches!(idle, Sealing::Nothing(Some(_))), "{idle:?}");
    }
}

fn created(offered: OfferOutcome) -> OperationId {
    match offered {
        OfferOutcome::Created { operation, .. } => operation.id,
        OfferOutcome::Replayed { body } => panic!("replayed: {body}"),
    }
}

/// A request that leaves a row in the audit log.
pub(crate) fn request_of_an_operator(at: Timestamp) -> AuditedRequest {
    let operator = ActingOperator {
        id: None,
        name: OperatorName::parse("root").unwrap(),
        request: RequestId::new(RandomIds.uuid(at)),
        address: Ipv4Addr::LOCALHOST.into(),
    };
    let audited = Audited {
        role: OperatorRole::Admin,
        action: "suspendCompany",
        record: format!("companies/{}", Uuid::from_u128(PAYER)),
    };
    AuditedRequest::new(at, operator, audited, Some(company(PAYER)))
}

fn company(number: u128) -> CompanyId {
    CompanyId::new(Uuid::from_u128(number))
}
