//! New sessions are prepared for creates and deliveries.

use std::sync::{Arc, Mutex};

use futures_util::future::join_all;
use preauth_core::operation::{Actor, Offer, Operation};
use preauth_core::value::{CompanyId, IdempotencyKey};
use preauth_server::access::{KeyHash, RateLimit};
use test_support::Database;
use tracing::field::{Field, Visit};
use tracing::subscriber::DefaultGuard;
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

use crate::store::deliveries::deliver;
use crate::store::fixture::Fixture;
use crate::store::handovers::Everything;

/// The target of the driver's events about notices.
const NOTICES: &str = "sqlx::postgres::notice";
/// As many as work at once.
const KEPT: i64 = 4;
const AT_ONCE: usize = 6;

/// The statements that sessions of the database had to read.
struct Read {
    statements: Arc<Mutex<Vec<String>>>,
    _listening: DefaultGuard,
}

impl Read {
    /// Makes the sessions that start from now on report what they read, and subscribes.
    async fn of(database: &Database) -> Self {
        let sql = database.sql().await;
        let name = database.name();
        let set = format!("ALTER DATABASE {name} SET client_min_messages = 'debug2'");
        let set = sqlx::raw_sql(sqlx::AssertSqlSafe(set));
        set.execute(&sql).await.unwrap();
        let statements = Arc::default();
        let subscriber = tracing_subscriber::registry().with(Listener(Arc::clone(&statements)));
        Self {
            statements,
            _listening: tracing::subscriber::set_default(subscriber),
        }
    }

    /// Those since the last call.
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.statements.lock().unwrap())
    }
}

struct Listener(Arc<Mutex<Vec<String>>>);

impl<S: Subscriber> Layer<S> for Listener {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        if event.metadata().target() == NOTICES {
            event.record(&mut Message(&self.0));
        }
    }
}

struct Message<'a>(&'a Mutex<Vec<String>>);

impl Visit for Message<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "message" && value.starts_with("parse ") {
            self.0.lock().unwrap().push(value.to_owned());
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn std::fmt::Debug) {}
}

struct Scene {
    fixture: Fixture,
    payer: CompanyId,
    key: KeyHash,
    known: Operation,
}

impl Scene {
    async fn on(database: &Arc<Database>) -> Self {
        let fixture = Fixture::on(database, 1).await;
        let payer = fixture.payer().await;
        fixture.add_endpoint(payer).await;
        let (_, key) = fixture.known_key().await;
        let known = fixture.offer(payer).await;
        Self {
            fixture,
            payer,
            key,
            known,
        }
    }

    /// An offer to a supplier who is known.
    fn offer(&self) -> Offer {
        let mut offer = self.fixture.new_offer(self.payer);
        offer.supplier.cnpj = self.known.supplier.cnpj;
        offer
    }

    /// A create request whose event is handed over and delivered.
    async fn create(&self, number: usize) {
        let now = self.fixture.now;
        let access = &self.fixture.stores.access;
        let found = access.authenticate(&self.key, RateLimit::default(), now);
        assert!(found.await.unwrap().is_some());
        let everything = Everything::default();
        let service = self.fixture.service_handing_over_to(everything.intake());
        let key = IdempotencyKey::parse(&format!("warm-up-number-{number}")).unwrap();
        let offer = self.offer();
        let created = service.offer(&offer, Actor::Company, Some(&key), now);
        created.await.unwrap();
        let leased = everything.leased();
        assert_eq!(leased.len(), 1);
        for leased in leased {
            deliver(&self.fixture, &leased, now).await;
        }
    }
}

#[tokio::test]
async fn creates_and_their_deliveries_find_their_statements_prepared() {
    let database = Arc::new(Database::fresh().await);
    let read = Read::of(&database).await;
    let scene = Scene::on(&database).await;
    scene.fixture.stores.lifecycle.warm_up().await;
    assert!(!read.take().is_empty(), "what sessions read is reported");
    scene.create(0).await;
    let unprepared = read.take();
    assert!(unprepared.is_empty(), "a lone one: {unprepared:#?}");
    join_all((1..=AT_ONCE).map(|number| scene.create(number))).await;
    let unprepared = read.take();
    assert!(unprepared.is_empty(), "some together: {unprepared:#?}");
}

#[tokio::test]
async fn to_prepare_sessions_writes_nothing() {
    let fixture = Fixture::new().await;
    fixture.stores.lifecycle.warm_up().await;
    let sessions = sqlx::query_scalar::<_, i64>(
        "SELECT count(*) FROM pg_stat_activity
         WHERE datname = current_database() AND application_name = 'preauth-server'
           AND query LIKE 'WITH reply%'",
    );
    assert_eq!(sessions.fetch_one(&fixture.sql).await.unwrap(), KEPT);
    let written = sqlx::query_as::<_, (i64, bool)>(
        "SELECT (SELECT count(*) FROM operations) + (SELECT count(*) FROM idempotency_replies)
              + (SELECT count(*) FROM events) + (SELECT count(*) FROM deliveries)
              + (SELECT count(*) FROM attempts) + (SELECT count(*) FROM notices)
              + (SELECT count(*) FROM rate_counts),
                (SELECT is_called FROM operation_ids) OR (SELECT is_called FROM lease_tokens)",
    );
    let written = written.fetch_one(&fixture.sql).await.unwrap();
    assert_eq!(written, (0, false), "rows, and whether a sequence moved");
}
