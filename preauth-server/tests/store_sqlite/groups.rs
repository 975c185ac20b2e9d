//! Commits that wait at the same time are written together.

use futures_util::future::join_all;
use preauth_core::operation::Actor;
use preauth_core::port::Viewer;
use preauth_core::service::OfferOutcome;

use crate::store::fixture::Fixture;
use crate::store::handovers::only_what_waits_wakes;

#[tokio::test]
async fn a_new_delivery_wakes_the_dispatcher_only_if_it_waits_for_a_claim() {
    only_what_waits_wakes(&Fixture::new().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_conflict_refuses_no_other_create_of_its_group() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    let mut offers: Vec<_> = (0..60).map(|_| fixture.new_offer(payer)).collect();
    // Five more for an invoice of the sixty: one of the six is created.
    let disputed = offers[30].clone();
    offers.splice(20..20, std::iter::repeat_n(disputed, 5));
    let created = offers.iter().map(|offer| {
        fixture
            .service
            .offer(offer, Actor::Company, None, fixture.now)
    });
    let mut ids = Vec::new();
    for outcome in join_all(created).await {
        if let Ok(OfferOutcome::Created { operation, .. }) = outcome {
            ids.push(operation.id);
        }
    }
    assert_eq!(ids.len(), 60);
    for id in ids {
        let queries = &fixture.stores.queries;
        assert!(queries.find(Viewer::Platform, id).await.unwrap().is_some());
        assert_eq!(queries.history(id).await.unwrap().len(), 1);
    }
}
