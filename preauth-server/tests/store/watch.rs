//! The values that operators monitor: pending work, and the use of connections.

use chrono::TimeDelta;
use preauth_server::store::Waiting;

use crate::store::fixture::Fixture;

async fn waiting(fixture: &Fixture, later: TimeDelta) -> Waiting {
    let at = fixture.later(later);
    fixture.stores.watch.waiting(at).await.unwrap()
}

#[tokio::test]
async fn due_and_paused_deliveries_and_staged_mails_are_counted() {
    let fixture = Fixture::new().await;
    let now = TimeDelta::zero();
    let nothing = Waiting {
        due_deliveries: 0,
        retried_deliveries: 0,
        oldest_retried_at: None,
        paused_deliveries: 0,
        paused_endpoints: 0,
        failing_endpoints: 0,
        staged_mails: 0,
    };
    assert_eq!(waiting(&fixture, now).await, nothing);
    let (busy, paused) = (fixture.payer().await, fixture.payer().await);
    for payer in [busy, busy, paused, paused, paused] {
        if fixture.directory().endpoint(payer).await.unwrap().is_none() {
            fixture.add_endpoint(payer).await;
        }
        fixture.offer(payer).await;
    }
    let pause = fixture
        .directory()
        .set_endpoint_paused(paused, true, fixture.now);
    pause.await.unwrap();
    let expected = Waiting {
        due_deliveries: 2,
        retried_deliveries: 0,
        oldest_retried_at: None,
        paused_deliveries: 3,
        paused_endpoints: 1,
        failing_endpoints: 0,
        staged_mails: 5,
    };
    assert_eq!(waiting(&fixture, now).await, expected);
    let not_yet_due = Waiting {
        due_deliveries: 0,
        ..expected
    };
    assert_eq!(
        waiting(&fixture, TimeDelta::milliseconds(-1)).await,
        not_yet_due
    );
    fixture
        .directory()
        .delete_endpoint(paused, fixture.now)
        .await
        .unwrap();
    let without_paused = Waiting {
        retried_deliveries: 0,
        oldest_retried_at: None,
        paused_deliveries: 0,
        paused_endpoints: 0,
        failing_endpoints: 0,
        ..expected
    };
    assert_eq!(waiting(&fixture, now).await, without_paused);
}

#[tokio::test]
async fn connections_are_counted_within_their_limit() {
    let fixture = Fixture::new().await;
    fixture.payer().await;
    waiting(&fixture, TimeDelta::zero()).await;
    let usage = fixture.stores.watch.usage();
    let open = usage.connections_in_use + usage.connections_idle;
    assert!(open >= 1 && open <= usage.connections_limit, "{usage:?}");
    let has_queue = usage.database == "sqlite";
    assert_eq!(usage.write_queue.is_some(), has_queue, "{usage:?}");
    if let Some(queue) = usage.write_queue {
        assert!(queue.length < queue.limit, "{queue:?}");
    }
}
