//! Commits that need a locked row wait apart from all others.

use std::sync::Arc;

use preauth_core::operation::{Actor, Command, Offer};
use preauth_core::port::Viewer;
use preauth_core::service::ServiceError;
use preauth_core::value::{CompanyId, IdempotencyKey};
use sqlx::Connection;
use sqlx::Executor;
use sqlx::postgres::PgConnection;
use tokio::task::JoinHandle;

use crate::store::fixture::Fixture;

use super::{Holder, goes_on_beside, held_company, offers_of};

type Waiting = JoinHandle<Result<(), ServiceError>>;

/// Concurrent offers of `payer`.
fn begin_offers(fixture: &Arc<Fixture>, payer: CompanyId) -> Vec<Waiting> {
    let begin = |_| begin_offer(fixture, fixture.new_offer(payer), None);
    (0..5).map(begin).collect()
}

fn begin_offer(fixture: &Arc<Fixture>, offer: Offer, key: Option<IdempotencyKey>) -> Waiting {
    let fixture = Arc::clone(fixture);
    tokio::spawn(async move {
        let (service, now) = (&fixture.service, fixture.now);
        let offered = service.offer(&offer, Actor::Company, key.as_ref(), now);
        offered.await.map(drop)
    })
}

async fn operations_of(fixture: &Fixture, payer: CompanyId) -> i64 {
    sqlx::query_scalar("SELECT count(*) FROM operations WHERE head_office_id = $1")
        .bind(payer.as_uuid())
        .fetch_one(&fixture.sql)
        .await
        .unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_held_company_delays_its_own_offers_and_no_others() {
    let fixture = Arc::new(Fixture::new().await);
    let (payer, other) = (fixture.payer().await, fixture.payer().await);
    let holder = Holder::of(&fixture, &held_company(payer)).await;
    let begin = || begin_offers(&fixture, payer);
    goes_on_beside(holder, begin, async || offers_of(&fixture, other).await).await;
    assert_eq!(operations_of(&fixture, payer).await, 5);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_held_endpoint_delays_what_is_addressed_to_it_and_nothing_else() {
    let fixture = Arc::new(Fixture::new().await);
    let (payer, other) = (fixture.payer().await, fixture.payer().await);
    let endpoint = fixture.add_endpoint(payer).await.id;
    fixture.add_endpoint(other).await;
    let sql = format!(
        "SELECT 1 FROM endpoints WHERE id = '{}' FOR UPDATE",
        endpoint.as_uuid()
    );
    let holder = Holder::of(&fixture, &sql).await;
    let begin = || begin_offers(&fixture, payer);
    goes_on_beside(holder, begin, async || offers_of(&fixture, other).await).await;
    assert_eq!(operations_of(&fixture, payer).await, 5);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_held_operation_delays_its_own_command_and_no_other_commit() {
    let fixture = Arc::new(Fixture::new().await);
    let (payer, other) = (fixture.payer().await, fixture.payer().await);
    let operation = fixture.offer(payer).await.id;
    let sql = format!(
        "SELECT 1 FROM operations WHERE id = {} FOR UPDATE",
        operation.get()
    );
    let holder = Holder::of(&fixture, &sql).await;
    let begin = || {
        let fixture = Arc::clone(&fixture);
        let command: Waiting = tokio::spawn(async move {
            let command = Command::Cancel;
            let (viewer, actor) = (Viewer::Platform, Actor::Company);
            let done = fixture
                .service
                .command(viewer, operation, &command, actor, fixture.now);
            done.await.map(drop)
        });
        vec![command]
    };
    goes_on_beside(holder, begin, async || offers_of(&fixture, other).await).await;
    let history = fixture.stores.queries.history(operation).await.unwrap();
    assert_eq!(history.len(), 2);
}

/// No query shows such a lock beforehand; only a timeout does.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_row_that_others_have_not_committed_delays_its_like_and_no_others() {
    let fixture = Arc::new(Fixture::new().await);
    let (payer, other) = (fixture.payer().await, fixture.payer().await);
    let supplier = fixture.new_offer(payer).supplier;
    let company = preauth_server::directory::Company {
        cnpj: supplier.cnpj,
        ..fixture.company(preauth_core::value::CompanyKind::Supplier)
    };
    let sql = format!(
        "INSERT INTO companies (id, cnpj, name, kind, head_office_id, created_at)
         VALUES ('{id}', '{cnpj}', 'X', 'SUPPLIER', '{id}', 0)",
        id = company.id.as_uuid(),
        cnpj = supplier.cnpj.as_str(),
    );
    let holder = Holder::of(&fixture, &sql).await;
    let begin_one = |_| {
        let mut offer = fixture.new_offer(payer);
        offer.supplier = supplier.clone();
        begin_offer(&fixture, offer, None)
    };
    let begin = || (0..3).map(begin_one).collect();
    goes_on_beside(holder, begin, async || offers_of(&fixture, other).await).await;
    assert_eq!(operations_of(&fixture, payer).await, 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_held_idempotency_key_delays_its_own_offer_and_no_others() {
    let fixture = Arc::new(Fixture::new().await);
    let (payer, other) = (fixture.payer().await, fixture.payer().await);
    let key = IdempotencyKey::parse("a-key-that-expired").unwrap();
    let first = fixture.new_offer(payer);
    let offered = fixture
        .service
        .offer(&first, Actor::Company, Some(&key), fixture.now);
    offered.await.unwrap();
    let sql = "UPDATE idempotency_replies SET expires_at = 1";
    let mut connection = PgConnection::connect(&fixture.database.url())
        .await
        .unwrap();
    connection.execute(sql).await.unwrap();
    let sql = format!(
        "SELECT 1 FROM idempotency_replies WHERE key = '{}' FOR UPDATE",
        key.as_str()
    );
    let holder = Holder::of(&fixture, &sql).await;
    let again = || {
        vec![begin_offer(
            &fixture,
            fixture.new_offer(payer),
            Some(key.clone()),
        )]
    };
    goes_on_beside(holder, again, async || offers_of(&fixture, other).await).await;
    assert_eq!(operations_of(&fixture, payer).await, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_offer_that_waited_in_vain_is_refused_and_leaves_nothing() {
    let fixture = Arc::new(Fixture::new().await);
    let payer = fixture.payer().await;
    let holder = Holder::of(&fixture, &held_company(payer)).await;
    let refused = begin_offer(&fixture, fixture.new_offer(payer), None);
    let refused = refused.await.unwrap();
    assert!(matches!(refused, Err(ServiceError::Busy(_))), "{refused:?}");
    // A further attempt would be made beside those of this one.
    let waiting = begin_offer(&fixture, fixture.new_offer(payer), None);
    offers_of(&fixture, fixture.payer().await).await;
    holder.let_go().await;
    let waited = waiting.await.unwrap();
    let expected = i64::from(waited.is_ok());
    assert_eq!(operations_of(&fixture, payer).await, expected);
}
