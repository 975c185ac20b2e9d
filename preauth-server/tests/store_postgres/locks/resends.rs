//! Resends beside the removal of their endpoint: one of them waits for the other.

use std::sync::Arc;

use chrono::TimeDelta;
use preauth_core::value::{CompanyId, DeliveryId, EndpointId, EnumSet};
use preauth_server::directory::{DirectoryError, ResendRange};

use crate::store::deliveries::{claim_one, deliver};
use crate::store::fixture::Fixture;

use super::{Holder, ROUNDS, goes_on_beside, offers_of, one_waits};

/// A payer, its endpoint, and a delivery that has arrived there.
async fn delivered(fixture: &Fixture) -> (CompanyId, EndpointId, DeliveryId) {
    let payer = fixture.payer().await;
    let endpoint = fixture.add_endpoint(payer).await.id;
    fixture.offer(payer).await;
    let leased = claim_one(fixture, fixture.now).await;
    deliver(fixture, &leased, fixture.now).await;
    (payer, endpoint, leased.delivery)
}

fn everything(fixture: &Fixture, company: CompanyId) -> ResendRange {
    ResendRange {
        company,
        since: fixture.now,
        until: fixture.later(TimeDelta::minutes(1)),
        event_types: None,
        statuses: EnumSet::all(),
        began_at: fixture.now,
    }
}

/// What a resend of either kind locks.
fn lock_of_a_resend(company: CompanyId) -> String {
    let id = company.as_uuid();
    format!("SELECT pg_advisory_xact_lock_shared(hashtextextended('endpoint of {id}', 0))")
}

/// What a removal has done before it is committed.
async fn removal(fixture: &Fixture, company: CompanyId, endpoint: EndpointId) -> Holder {
    let id = company.as_uuid();
    let lock = format!("SELECT pg_advisory_xact_lock(hashtextextended('endpoint of {id}', 0))");
    let mut holder = Holder::of(fixture, &lock).await;
    let (id, at) = (endpoint.as_uuid(), fixture.now.unix_millis());
    let remove = format!("UPDATE endpoints SET deleted_at = {at} WHERE id = '{id}'");
    holder.lock(&remove).await;
    holder
}

async fn status(fixture: &Fixture, delivery: DeliveryId) -> String {
    sqlx::query_scalar("SELECT status FROM deliveries WHERE id = $1")
        .bind(delivery.as_uuid())
        .fetch_one(&fixture.sql)
        .await
        .unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_arrived_stays_delivered_when_its_endpoint_is_removed_before_the_resend() {
    let fixture = Arc::new(Fixture::new().await);
    let (payer, endpoint, delivery) = delivered(&fixture).await;
    let holder = removal(&fixture, payer, endpoint).await;
    let range = everything(&fixture, payer);
    let mut answers = None;
    for _ in 0..ROUNDS {
        let of_range = {
            let fixture = Arc::clone(&fixture);
            tokio::spawn(async move {
                let directory = fixture.directory();
                directory
                    .resend_ended(&range, vec![delivery], fixture.now)
                    .await
            })
        };
        let of_one = {
            let fixture = Arc::clone(&fixture);
            tokio::spawn(async move { fixture.directory().resend(delivery, fixture.now).await })
        };
        one_waits(&fixture).await;
        if !of_range.is_finished() && !of_one.is_finished() {
            answers = Some((of_range, of_one));
            break;
        }
        // Given up, because the machine was busy.
        assert!(of_range.await.unwrap().is_err(), "it did not wait");
        assert!(of_one.await.unwrap().is_err(), "it did not wait");
    }
    let Some((of_range, of_one)) = answers else {
        panic!("{ROUNDS} times a resend was given up before it was looked at");
    };
    holder.commit().await;
    assert_eq!(of_range.await.unwrap().unwrap(), 0);
    let of_one = of_one.await.unwrap();
    assert!(
        matches!(of_one, Err(DirectoryError::Conflict)),
        "{of_one:?}"
    );
    assert_eq!(status(&fixture, delivery).await, "DELIVERED");
    let settled = fixture.stores.housekeeping.settle_endpoints(10).await;
    assert_eq!(settled.unwrap(), 0);
    assert_eq!(status(&fixture, delivery).await, "DELIVERED");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_removal_waits_for_a_resend_and_delays_nothing_else() {
    let fixture = Arc::new(Fixture::new().await);
    let (payer, _, delivery) = delivered(&fixture).await;
    let holder = Holder::of(&fixture, &lock_of_a_resend(payer)).await;
    let begin = || {
        let fixture = Arc::clone(&fixture);
        vec![tokio::spawn(async move {
            let directory = fixture.directory();
            directory.delete_endpoint(payer, fixture.now).await
        })]
    };
    // Neither the offers of the same company, nor their deliveries, nor another resend.
    let beside = async || {
        one_waits(&fixture).await;
        offers_of(&fixture, payer).await;
        let leased = claim_one(&fixture, fixture.now).await;
        deliver(&fixture, &leased, fixture.now).await;
        let directory = fixture.directory();
        let resent = directory.resend(leased.delivery, fixture.now);
        resent.await.unwrap();
    };
    let removed = goes_on_beside(holder, begin, beside).await;
    assert_eq!(removed.len(), 1);
    let endpoint = fixture.directory().endpoint(payer).await.unwrap();
    assert!(endpoint.is_none(), "it is removed");
    // What was queued before the removal ends with it, and what had arrived has arrived.
    while fixture
        .stores
        .housekeeping
        .settle_endpoints(10)
        .await
        .unwrap()
        > 0
    {}
    let sql = "SELECT count(*) FROM deliveries WHERE status = 'PENDING'";
    let pending: i64 = sqlx::query_scalar(sql)
        .fetch_one(&fixture.sql)
        .await
        .unwrap();
    assert_eq!(pending, 0);
    assert_eq!(status(&fixture, delivery).await, "DELIVERED");
}
