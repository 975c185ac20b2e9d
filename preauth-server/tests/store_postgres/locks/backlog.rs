//! The deliveries of a removed endpoint, settled beside commits.

use std::sync::Arc;

use crate::records;
use crate::store::fixture::Fixture;

/// Deliveries queued for an endpoint that was unreachable for long.
const LONG_BACKLOG: i64 = 100_000;
/// Maximum deliveries that one transaction settles.
const BATCH: i64 = 1_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn removing_an_endpoint_with_a_long_backlog_delays_no_commit() {
    let fixture = Arc::new(Fixture::new().await);
    let (payer, other) = (fixture.payer().await, fixture.payer().await);
    let endpoint = fixture.add_endpoint(payer).await.id;
    records::add_backlog(&fixture.sql, endpoint, LONG_BACKLOG, fixture.now).await;
    let deleted = fixture.directory().delete_endpoint(payer, fixture.now);
    deleted.await.unwrap();
    // The answer waits for one batch.
    assert_eq!(unsettled(&fixture).await, LONG_BACKLOG - BATCH);
    let settling = {
        let fixture = Arc::clone(&fixture);
        tokio::spawn(async move {
            let housekeeping = &fixture.stores.housekeeping;
            let mut steps = 0;
            // Each in a transaction of its own.
            while housekeeping.settle_endpoints(1_000).await.unwrap() > 0 {
                steps += 1;
            }
            steps
        })
    };
    let mut offers = 0;
    while !settling.is_finished() {
        // Offers of the same company, too: only its endpoint is removed.
        for company in [other, payer] {
            fixture.offer(company).await;
            offers += 1;
        }
    }
    let steps = settling.await.unwrap();
    assert!(steps >= LONG_BACKLOG / BATCH - 1, "{steps} transactions");
    assert!(
        offers >= steps / 10,
        "{offers} offers beside {steps} transactions"
    );
    assert_eq!(unsettled(&fixture).await, 0);
}

async fn unsettled(fixture: &Fixture) -> i64 {
    sqlx::query_scalar("SELECT count(*) FROM deliveries WHERE status <> 'FAILED'")
        .fetch_one(&fixture.sql)
        .await
        .unwrap()
}
