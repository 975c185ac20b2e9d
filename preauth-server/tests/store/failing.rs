//! A company is mailed when its endpoint begins to fail, and when it has recovered.

use std::num::NonZeroU32;

use chrono::TimeDelta;
use preauth_core::port::{Attempt, AttemptError, Leased, MailKind, Verdict};
use preauth_core::value::{CompanyId, Timestamp};
use preauth_server::directory::MailFilter;

use crate::store::deliveries::{claim_up_to, deliver};
use crate::store::fixture::{FIRST_PAGE, Fixture};

/// The first retry, the second one, and the longest time that a success is written down late.
const SECOND: i64 = 5;
const THIRD: i64 = 65;

/// An office with a reader and an endpoint.
struct Scene {
    fixture: Fixture,
    office: CompanyId,
}

impl Scene {
    async fn new() -> Self {
        let fixture = Fixture::new().await;
        let office = fixture.payer().await;
        fixture
            .directory()
            .add_user(&fixture.user(office), None)
            .await
            .unwrap();
        fixture.add_endpoint(office).await;
        Self { fixture, office }
    }

    fn at(&self, seconds: i64) -> Timestamp {
        self.fixture.later(TimeDelta::seconds(seconds))
    }

    async fn lease(&self, at: i64) -> Leased {
        let leased = claim_up_to(&self.fixture, self.at(at), NonZeroU32::MIN).await;
        leased.into_iter().next().unwrap()
    }

    async fn fail(&self, at: i64, retry_at: i64) {
        let attempt = Attempt {
            at: self.at(at),
            duration: TimeDelta::milliseconds(20),
            http_status: None,
            error: Some(AttemptError::TimedOut),
            response_body: Vec::new(),
        };
        let verdict = Verdict::RetryAt {
            at: self.at(retry_at),
            pause_endpoint: false,
        };
        let leased = self.lease(at).await;
        let finished = self
            .fixture
            .stores
            .outbox
            .finish(&leased, &attempt, verdict);
        assert!(finished.await.unwrap());
    }

    /// A new event, of which the first two attempts fail.
    async fn fail_twice(&self, from: i64) {
        self.fixture.offer_at(self.office, self.at(from)).await;
        self.fail(from, from + SECOND).await;
        self.fail(from + SECOND, from + THIRD).await;
    }

    async fn deliver(&self, at: i64) {
        let leased = self.lease(at).await;
        deliver(&self.fixture, &leased, self.at(at)).await;
    }

    async fn notify(&self, at: i64) -> u64 {
        let house = &self.fixture.stores.housekeeping;
        house.notify_of_failing(self.at(at), 100).await.unwrap()
    }

    /// The mails about failures and about recoveries.
    async fn mails(&self) -> (u64, u64) {
        let count = async |kind| {
            let filter = MailFilter {
                kind: Some(kind),
                ..MailFilter::default()
            };
            let directory = self.fixture.directory();
            let page = directory.mails(Some(self.office), filter, FIRST_PAGE);
            let page = page.await.unwrap();
            assert!(page.items.iter().all(|mail| mail.kind == kind));
            page.total
        };
        assert_eq!(count(MailKind::EndpointPaused).await, 0);
        let failing = count(MailKind::EndpointFailing).await;
        (failing, count(MailKind::EndpointRecovered).await)
    }

    async fn failing_endpoints(&self) -> u32 {
        let watch = &self.fixture.stores.watch;
        watch
            .waiting(self.fixture.now)
            .await
            .unwrap()
            .failing_endpoints
    }
}

#[tokio::test]
async fn an_episode_is_mailed_once_and_its_end_once() {
    let scene = Scene::new().await;
    scene.fixture.offer(scene.office).await;
    scene.fail(0, SECOND).await;
    assert_eq!(
        scene.notify(60).await,
        0,
        "one failure is none of the endpoint"
    );
    scene.fail(SECOND, THIRD).await;
    assert_eq!(
        scene.notify(14).await,
        0,
        "a success may still be written down"
    );
    let (one, other) = tokio::join!(scene.notify(20), scene.notify(20));
    assert_eq!(one + other, 2, "it is noted and mailed by one of them");
    assert_eq!(scene.mails().await, (1, 0));
    assert_eq!(scene.failing_endpoints().await, 1);
    assert_eq!(scene.notify(21).await, 0);
    scene.fail(THIRD, 400).await;
    assert_eq!(
        scene.notify(100_000).await,
        0,
        "once, however long it lasts"
    );
    scene.deliver(400).await;
    assert_eq!(scene.notify(420).await, 1);
    assert_eq!(scene.notify(421).await, 0);
    assert_eq!(scene.mails().await, (1, 1));
    assert_eq!(scene.failing_endpoints().await, 0);
}

#[tokio::test]
async fn an_endpoint_that_comes_and_goes_is_mailed_about_once_in_six_hours() {
    let scene = Scene::new().await;
    scene.fail_twice(0).await;
    assert_eq!(scene.notify(20).await, 2);
    scene.deliver(100).await;
    assert_eq!(scene.notify(110).await, 1);
    for from in [1_000, 2_000, 3_000] {
        scene.fail_twice(from).await;
        assert_eq!(scene.notify(from + 20).await, 1, "noted, not mailed");
        scene.deliver(from + 100).await;
        assert_eq!(scene.notify(from + 110).await, 1, "ended, not mailed");
    }
    assert_eq!(scene.mails().await, (1, 1));
    scene.fail_twice(4_000).await;
    assert_eq!(scene.notify(4_020).await, 1);
    assert_eq!(scene.notify(21_000).await, 0);
    assert_eq!(
        scene.notify(22_000).await,
        1,
        "it lasts, and six hours are over"
    );
    assert_eq!(scene.mails().await, (2, 1));
    scene.deliver(22_100).await;
    assert_eq!(scene.notify(22_110).await, 1);
    assert_eq!(scene.mails().await, (2, 2));
}

#[tokio::test]
async fn one_refused_event_among_others_that_arrive_is_no_failure_of_the_endpoint() {
    let scene = Scene::new().await;
    scene.fixture.offer(scene.office).await;
    scene.fail(0, SECOND).await;
    scene.fail(SECOND, THIRD).await;
    scene.fixture.offer_at(scene.office, scene.at(6)).await;
    scene.deliver(6).await;
    assert_eq!(scene.notify(30).await, 0);
    assert_eq!(scene.mails().await, (0, 0));
}

#[tokio::test]
async fn a_pause_ends_an_episode_without_a_mail() {
    let scene = Scene::new().await;
    scene.fail_twice(0).await;
    assert_eq!(scene.notify(20).await, 2);
    let directory = scene.fixture.directory();
    let paused = directory.set_endpoint_paused(scene.office, true, scene.at(30));
    paused.await.unwrap();
    assert_eq!(scene.failing_endpoints().await, 0);
    assert_eq!(scene.notify(40).await, 1);
    assert_eq!(scene.notify(50_000).await, 0);
    assert_eq!(scene.mails().await, (1, 0));
}
