//! One head office's mass change is done in batches, between which the single writer serves others.

use std::sync::Arc;

use chrono::TimeDelta;
use preauth_core::port::Viewer;
use preauth_core::value::{CompanyId, Timestamp};
use preauth_server::clock::Clock;
use preauth_server::janitor::{Janitor, Retention};
use preauth_server::worker::shutdown;

use crate::records;
use crate::store::fixture::Fixture;

const BACKLOG: i64 = 20_000;
/// Deliveries that one transaction may change.
const MAX_BATCH: i64 = 1_000;
/// Creates of another head office meanwhile.
const CREATES: usize = 5;

struct Standing(Timestamp);

impl Clock for Standing {
    fn now(&self) -> Timestamp {
        self.0
    }
}

struct Scene {
    fixture: Fixture,
    /// Whose endpoint has the backlog.
    busy: CompanyId,
    other: CompanyId,
}

impl Scene {
    /// A backlog that is due in a year.
    async fn new() -> Self {
        let fixture = Fixture::new().await;
        let (busy, other) = (fixture.payer().await, fixture.payer().await);
        let endpoint = fixture.add_endpoint(busy).await;
        let in_a_year = fixture.later(TimeDelta::days(365));
        records::add_backlog(&fixture.sql, endpoint.id, BACKLOG, in_a_year).await;
        fixture.add_endpoint(other).await;
        Self {
            fixture,
            busy,
            other,
        }
    }

    /// Deliveries of the backlog that the change has not reached.
    async fn left(&self) -> i64 {
        sqlx::query_scalar(
            "SELECT count(*) FROM deliveries
             WHERE head_office_id = ?1 AND status = 'PENDING' AND next_attempt_at > ?2",
        )
        .bind(self.busy.as_uuid().as_bytes().as_slice())
        .bind(self.fixture.later(TimeDelta::days(1)).unix_millis())
        .fetch_one(&self.fixture.sql)
        .await
        .unwrap()
    }

    /// Creates and reads operations of the other head office while the janitor does the rest; each is
    /// answered before that is done.
    async fn others_are_served_before_the_rest_is_done(&self) {
        let house = Arc::clone(&self.fixture.stores.housekeeping);
        let clock = Arc::new(Standing(self.fixture.now));
        let janitor = Janitor::new(house, clock, Retention::default());
        let (trigger, until) = shutdown();
        let serve = async {
            let mut left = Vec::new();
            for _ in 0..CREATES {
                let created = self.fixture.offer(self.other).await;
                let queries = &self.fixture.stores.queries;
                let found = queries.find(Viewer::Platform, created.id).await.unwrap();
                assert_eq!(found.unwrap().id, created.id);
                left.push(self.left().await);
            }
            while self.left().await > 0 {
                tokio::task::yield_now().await;
            }
            trigger.request();
            left
        };
        let ((), left) = tokio::join!(janitor.run(until), serve);
        let first = left.first().copied().unwrap();
        assert!(first > 0, "created after the whole change: {left:?}");
    }
}

#[tokio::test]
async fn deleting_an_endpoint_with_a_large_backlog_lets_others_in_between() {
    let scene = Scene::new().await;
    let directory = scene.fixture.directory();
    directory
        .delete_endpoint(scene.busy, scene.fixture.now)
        .await
        .unwrap();
    let mut left = scene.left().await;
    assert_eq!(left, BACKLOG - MAX_BATCH, "the call itself does one batch");
    let house = &scene.fixture.stores.housekeeping;
    for _ in 0..3 {
        house
            .settle_endpoints(u32::try_from(MAX_BATCH).unwrap())
            .await
            .unwrap();
        assert_eq!(scene.left().await, left - MAX_BATCH);
        left -= MAX_BATCH;
    }
    scene.others_are_served_before_the_rest_is_done().await;
}

#[tokio::test]
async fn pausing_and_resuming_an_endpoint_with_a_large_backlog_lets_others_in_between() {
    let scene = Scene::new().await;
    let directory = scene.fixture.directory();
    let set = async |is_paused| {
        let now = scene.fixture.now;
        directory
            .set_endpoint_paused(scene.busy, is_paused, now)
            .await
            .unwrap();
    };
    set(true).await;
    assert_eq!(scene.left().await, BACKLOG, "a pause changes no delivery");
    set(false).await;
    assert_eq!(scene.left().await, BACKLOG - MAX_BATCH);
    scene.others_are_served_before_the_rest_is_done().await;
}

/// The repair of what a wrong clock left is a mass change as well.
#[tokio::test]
async fn repairing_a_large_backlog_after_a_wrong_clock_lets_others_in_between() {
    let scene = Scene::new().await;
    scene.others_are_served_before_the_rest_is_done().await;
}
