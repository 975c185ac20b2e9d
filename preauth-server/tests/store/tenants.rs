//! One head office floods the store, and the effect on another.

use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::{join, join_all};
use preauth_core::operation::Actor;
use preauth_core::port::Viewer;
use preauth_core::service::ServiceError;
use preauth_core::value::CompanyId;
use preauth_server::fair::{Tenant, on_account_of};

use crate::fixture::Fixture;

/// More than the queue takes.
const TOO_MANY: usize = 3_000;
/// As many as any queue takes, in several groups.
const MANY: usize = 1_000;

#[tokio::test]
async fn a_head_offices_flood_refuses_no_other() {
    let fixture = Fixture::new().await;
    let (flooding, quiet) = (fixture.payer().await, fixture.payer().await);
    let flood = join_all((0..TOO_MANY).map(|_| offer(&fixture, flooding)));
    let beside = async {
        for _ in 0..5 {
            offer(&fixture, quiet).await.unwrap();
        }
    };
    let (flood, ()) = join(flood, beside).await;
    let refused = flood.iter().filter(|it| it.is_err()).count();
    assert!(refused > 0, "the queues were never full");
}

#[tokio::test]
async fn an_offer_does_not_wait_for_the_backlog_of_another_head_office() {
    let fixture = Fixture::new().await;
    let (flooding, quiet) = (fixture.payer().await, fixture.payer().await);
    let answered = AtomicUsize::new(0);
    let flood = join_all((0..MANY).map(|_| async {
        offer(&fixture, flooding).await.unwrap();
        answered.fetch_add(1, Ordering::Relaxed);
    }));
    let beside = async {
        offer(&fixture, quiet).await.unwrap();
        answered.load(Ordering::Relaxed)
    };
    let (_, before) = join(flood, beside).await;
    assert!(before < MANY / 2, "{before} of {MANY} were answered before");
}

#[tokio::test]
async fn a_get_does_not_wait_for_the_backlog_of_another_head_office() {
    let fixture = Fixture::new().await;
    let (flooding, quiet) = (fixture.payer().await, fixture.payer().await);
    let operations = [fixture.offer(flooding).await, fixture.offer(quiet).await];
    let find = async |company, operation| {
        let found = fixture
            .stores
            .queries
            .find(Viewer::HeadOffice(company), operation);
        let found = on_account_of(Tenant::HeadOffice(company), found).await;
        assert!(found.unwrap().is_some());
    };
    let answered = AtomicUsize::new(0);
    let flood = join_all((0..MANY).map(|_| async {
        find(flooding, operations[0].id).await;
        answered.fetch_add(1, Ordering::Relaxed);
    }));
    let beside = async {
        find(quiet, operations[1].id).await;
        answered.load(Ordering::Relaxed)
    };
    let (_, before) = join(flood, beside).await;
    assert!(
        before < MANY / 10,
        "{before} of {MANY} were answered before"
    );
}

async fn offer(fixture: &Fixture, payer: CompanyId) -> Result<(), ServiceError> {
    let offer = fixture.new_offer(payer);
    let offered = fixture
        .service
        .offer(&offer, Actor::Company, None, fixture.now);
    on_account_of(Tenant::HeadOffice(payer), offered)
        .await
        .map(drop)
}
