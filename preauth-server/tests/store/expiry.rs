//! Offers that all fall due together.

use std::sync::Arc;

use chrono::TimeDelta;
use preauth_core::port::{Filter, Viewer};
use preauth_core::value::{CompanyId, Status};

use crate::store::fixture::{FIRST_PAGE, Fixture};

/// Expiries per step, so that several steps are needed.
const STEP: u32 = 70;
const OFFERS: usize = 300;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn offers_due_together_expire_once_with_concurrent_sweepers() {
    let fixture = Arc::new(Fixture::new().await);
    all_expire_once([Arc::clone(&fixture), fixture]).await;
}

/// Lets both sweep concurrently, and checks the result.
pub(crate) async fn all_expire_once(instances: [Arc<Fixture>; 2]) {
    let [fixture, _] = &instances;
    let payer = fixture.payer().await;
    fixture.add_endpoint(payer).await;
    offer_side_by_side(fixture, payer).await;
    let mut recorded = 0;
    for sweep in instances
        .clone()
        .map(|it| tokio::spawn(sweep_to_the_end(it)))
    {
        recorded += sweep.await.unwrap();
    }
    assert_eq!(recorded, OFFERS);
    let all = i64::try_from(OFFERS).unwrap();
    for counted in [
        "SELECT count(*) FROM operations WHERE status = 'REPROVED' AND version = 2",
        "SELECT count(*) FROM events WHERE type = 'pre_authorization.expired'",
        "SELECT count(DISTINCT operation_id) FROM events
         WHERE type = 'pre_authorization.expired' AND version = 2",
        "SELECT count(DISTINCT d.event_id) FROM deliveries d JOIN events e ON e.id = d.event_id
         WHERE e.type = 'pre_authorization.expired' AND d.status = 'PENDING'",
    ] {
        let count: i64 = sqlx::query_scalar(counted)
            .fetch_one(&fixture.sql)
            .await
            .unwrap();
        assert_eq!(count, all, "{counted}");
    }
    let viewer = Viewer::HeadOffice(payer);
    let filter = Filter {
        external_reference: None,
        statuses: vec![Status::Reproved],
    };
    let listed = fixture.stores.queries.list(viewer, &filter, FIRST_PAGE);
    assert_eq!(listed.await.unwrap().total, u64::try_from(OFFERS).unwrap());
}

async fn offer_side_by_side(fixture: &Arc<Fixture>, payer: CompanyId) {
    let offers: Vec<_> = (0..OFFERS)
        .map(|_| {
            let fixture = Arc::clone(fixture);
            tokio::spawn(async move { fixture.offer(payer).await })
        })
        .collect();
    for offer in offers {
        offer.await.unwrap();
    }
}

/// Sweeps until nothing is due; returns the number of recorded expiries.
async fn sweep_to_the_end(fixture: Arc<Fixture>) -> usize {
    let late = fixture.later(TimeDelta::days(31));
    let mut recorded = 0;
    loop {
        let swept = fixture.service.expire_overdue(late, STEP).await.unwrap();
        assert!(swept.failed.is_empty(), "{:?}", swept.failed);
        if swept.expired.is_empty() && swept.closed_by_others == 0 {
            return recorded;
        }
        recorded += swept.expired.len();
    }
}
