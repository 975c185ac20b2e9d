//! One head office floods the store, and the effect on another.

use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::{join, join_all};
use preauth_core::operation::Actor;
use preauth_core::port::Viewer;
use preauth_core::service::ServiceError;
use preauth_core::value::CompanyId;
use preauth_server::fair::{Tenant, on_account_of};

use crate::store::fixture::Fixture;

/// More than the queue takes.
const TOO_MANY: usize = 3_000;
/// As many as any queue takes, in several groups.
const MANY: usize = 1_000;
/// Maximum number of floods.
const ROUNDS: usize = 5;

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
    is_soon_answered(
        MANY / 2,
        || async { offer(&fixture, flooding).await.unwrap() },
        || async { offer(&fixture, quiet).await.unwrap() },
    )
    .await;
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
    is_soon_answered(
        MANY / 10,
        || find(flooding, operations[0].id),
        || find(quiet, operations[1].id),
    )
    .await;
}

/// Sends [`MANY`] requests and then one of another head office, which must be answered before `limit`
/// of them in one of some rounds. In a queue without turns they are all answered before it in every
/// round; with turns, this thread may rest for so long that many answers lie there when it looks.
async fn is_soon_answered<F: Future<Output = ()>, B: Future<Output = ()>>(
    limit: usize,
    flooding: impl Fn() -> F,
    beside: impl Fn() -> B,
) {
    let mut found = Vec::new();
    while found.len() < ROUNDS {
        let answered = AtomicUsize::new(0);
        let flood = join_all((0..MANY).map(|_| async {
            flooding().await;
            answered.fetch_add(1, Ordering::Relaxed);
        }));
        let beside = async {
            beside().await;
            answered.load(Ordering::Relaxed)
        };
        let (_, before) = join(flood, beside).await;
        if before < limit {
            return;
        }
        found.push(before);
    }
    panic!("{found:?} of {MANY} were answered before");
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
