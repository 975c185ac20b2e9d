//! One head office floods the store, and the effect on another.
//!
//! Each request is a task of its own: tasks are polled in the order in which their answers came, so that
//! the number of answers before another one does not depend on the speed of the machine.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use preauth_core::operation::Actor;
use preauth_core::port::{Unavailable, Viewer};
use preauth_core::service::ServiceError;
use preauth_core::value::{CompanyId, OperationId};
use preauth_server::fair::{Tenant, charged_to};
use tokio::task::JoinSet;

use crate::store::fixture::Fixture;

/// More than the queue takes.
const TOO_MANY: usize = 3_000;
/// As many as any queue takes, in several groups.
const MANY: usize = 1_000;
/// Maximum number of floods. A request that the machine, busy with other work, has not come to in the time
/// that it may wait shows nothing.
const ROUNDS: usize = 5;

#[tokio::test]
async fn a_head_offices_flood_refuses_no_other() {
    let fixture = Arc::new(Fixture::new().await);
    let (flooding, quiet) = (fixture.payer().await, fixture.payer().await);
    let mut flood = JoinSet::new();
    for _ in 0..TOO_MANY {
        flood.spawn(offer(Arc::clone(&fixture), flooding));
    }
    let beside = tokio::spawn(async move {
        for _ in 0..5 {
            offer(Arc::clone(&fixture), quiet).await.unwrap();
        }
    });
    let flood = flood.join_all().await;
    beside.await.unwrap();
    let refused = flood.iter().filter(|it| it.is_err()).count();
    assert!(refused > 0, "the queues were never full");
}

#[tokio::test]
async fn an_offer_does_not_wait_for_the_backlog_of_another_head_office() {
    let fixture = Arc::new(Fixture::new().await);
    let (flooding, quiet) = (fixture.payer().await, fixture.payer().await);
    let beside = || offer(Arc::clone(&fixture), quiet);
    let flood = || offer(Arc::clone(&fixture), flooding);
    let before = answered_before(beside, flood).await;
    assert!(before < MANY / 2, "{before} of {MANY}");
}

#[tokio::test]
async fn a_get_does_not_wait_for_the_backlog_of_another_head_office() {
    let fixture = Arc::new(Fixture::new().await);
    let (flooding, quiet) = (fixture.payer().await, fixture.payer().await);
    let operations = [fixture.offer(flooding).await, fixture.offer(quiet).await];
    let beside = || find(Arc::clone(&fixture), quiet, operations[1].id);
    let flood = || find(Arc::clone(&fixture), flooding, operations[0].id);
    // Whoever comes first may wait until a connection is open, and others pass.
    answered_before(beside, flood).await;
    let before = answered_before(beside, flood).await;
    // PostgreSQL has three groups of 32 under way, and begins one with it.
    assert!(before < MANY / 5, "{before} of {MANY}");
}

/// Sends [`MANY`] requests and then one of another head office; returns how many were served before it.
async fn answered_before<T, E, F, B>(beside: impl Fn() -> B, flooding: impl Fn() -> F) -> usize
where
    T: Send + 'static,
    E: Send + 'static,
    F: Future<Output = Result<T, E>> + Send + 'static,
    B: Future<Output = Result<T, E>> + Send + 'static,
{
    for _ in 0..ROUNDS {
        let served = Arc::new(AtomicUsize::new(0));
        let mut flood = JoinSet::new();
        for _ in 0..MANY {
            let (request, served) = (flooding(), Arc::clone(&served));
            flood.spawn(async move {
                let is_served = request.await.is_ok();
                served.fetch_add(usize::from(is_served), Ordering::Relaxed);
            });
        }
        let beside = beside();
        let beside = tokio::spawn(async move {
            let is_served = beside.await.is_ok();
            is_served.then(|| served.load(Ordering::Relaxed))
        });
        let before = beside.await.unwrap();
        flood.join_all().await;
        if let Some(before) = before {
            return before;
        }
    }
    panic!("it was refused {ROUNDS} times");
}

async fn find(
    fixture: Arc<Fixture>,
    company: CompanyId,
    operation: OperationId,
) -> Result<(), Unavailable> {
    let viewer = Viewer::HeadOffice(company);
    let found = fixture.stores.queries.find(viewer, operation);
    let found = charged_to(Tenant::HeadOffice(company), found).await?;
    assert!(found.is_some());
    Ok(())
}

async fn offer(fixture: Arc<Fixture>, payer: CompanyId) -> Result<(), ServiceError> {
    let offer = fixture.new_offer(payer);
    let offered = fixture
        .service
        .offer(&offer, Actor::Company, None, fixture.now);
    charged_to(Tenant::HeadOffice(payer), offered)
        .await
        .map(drop)
}
