//! New sessions are prepared for creates and deliveries.

use std::sync::Arc;

use futures_util::future::join_all;
use preauth_core::operation::{Actor, Offer, Operation};
use preauth_core::value::{CompanyId, IdempotencyKey};
use preauth_server::access::{KeyHash, RateLimit};
use test_support::Database;

use crate::notices::Notices;
use crate::store::deliveries::deliver;
use crate::store::fixture::Fixture;
use crate::store::handovers::Everything;

/// Sessions report which statements they read.
const REPORT: [(&str, &str); 1] = [("client_min_messages", "debug2")];
/// As many as work at once.
const KEPT: i64 = 4;
const AT_ONCE: usize = 6;

/// The statements that sessions have read since the last call.
fn read(notices: &Notices) -> Vec<String> {
    let mut read = notices.take();
    read.retain(|it| it.starts_with("parse "));
    read
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
    let notices = Notices::of(&database, &REPORT).await;
    let scene = Scene::on(&database).await;
    scene.fixture.stores.lifecycle.warm_up().await;
    assert!(!read(&notices).is_empty(), "what sessions read is reported");
    scene.create(0).await;
    let unprepared = read(&notices);
    assert!(unprepared.is_empty(), "a lone one: {unprepared:#?}");
    join_all((1..=AT_ONCE).map(|number| scene.create(number))).await;
    let unprepared = read(&notices);
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
