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

    async fn pause(&self, is_paused: bool, at: i64) {
        let directory = self.fixture.directory();
        let changed = directory.set_endpoint_paused(self.office, is_paused, self.at(at));
        changed.await.unwrap();
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
async fn an_episode_that_was_mailed_outlasts_a_pause_and_its_end_is_mailed_after_the_resume() {
    let scene = Scene::new().await;
    scene.fail_twice(0).await;
    assert_eq!(scene.notify(20).await, 2);
    scene.pause(true, 30).await;
    assert_eq!(scene.failing_endpoints().await, 0, "what is paused");
    assert_eq!(scene.notify(40).await, 0);
    assert_eq!(scene.notify(50_000).await, 0);
    assert_eq!(scene.mails().await, (1, 0));
    scene.pause(false, 60_000).await;
    assert_eq!(scene.notify(60_010).await, 0, "it is the same episode");
    assert_eq!(scene.failing_endpoints().await, 1);
    scene.deliver(60_020).await;
    assert_eq!(scene.notify(60_040).await, 1);
    assert_eq!(scene.notify(60_050).await, 0);
    assert_eq!(scene.mails().await, (1, 1), "the promised word");
}

#[tokio::test]
async fn an_endpoint_that_fails_again_after_a_pause_is_mailed_about_again() {
    let scene = Scene::new().await;
    scene.fail_twice(0).await;
    assert_eq!(scene.notify(20).await, 2);
    scene.pause(true, 30).await;
    scene.pause(false, 60_000).await;
    assert_eq!(scene.notify(60_005).await, 0, "it has not failed since");
    scene.fail(60_010, 60_100).await;
    assert_eq!(scene.notify(60_090).await, 0, "it has failed once since");
    scene.fail(60_100, 60_200).await;
    assert_eq!(scene.notify(60_120).await, 1);
    assert_eq!(scene.mails().await, (2, 0));
    scene.fail(60_200, 60_300).await;
    assert_eq!(scene.notify(90_000).await, 0, "once, however long it lasts");
    scene.deliver(90_010).await;
    assert_eq!(scene.notify(90_030).await, 1);
    assert_eq!(scene.mails().await, (2, 1));
}

#[tokio::test]
async fn a_pause_that_ends_soon_after_the_mail_is_no_reason_for_another() {
    let scene = Scene::new().await;
    scene.fail_twice(0).await;
    assert_eq!(scene.notify(20).await, 2);
    scene.pause(true, 30).await;
    scene.pause(false, 100).await;
    scene.fail(110, 200).await;
    scene.fail(200, 300).await;
    assert_eq!(scene.notify(220).await, 0);
    assert_eq!(scene.notify(90_000).await, 0);
    scene.deliver(90_010).await;
    assert_eq!(scene.notify(90_030).await, 1);
    assert_eq!(scene.mails().await, (1, 1));
}

#[tokio::test]
async fn an_endpoint_that_is_resumed_soon_after_the_mail_and_fails_on_is_mailed_about_six_hours_later()
 {
    let scene = Scene::new().await;
    scene.fail_twice(0).await;
    assert_eq!(scene.notify(20).await, 2);
    scene.pause(true, 30).await;
    scene.pause(false, 100).await;
    scene.fail(110, 200).await;
    scene.fail(200, 21_700).await;
    // Another pause changes nothing of it.
    scene.pause(true, 300).await;
    scene.pause(false, 400).await;
    assert_eq!(scene.notify(21_640).await, 0, "not failed since");
    scene.fail(21_700, 21_800).await;
    assert_eq!(scene.notify(21_760).await, 0, "failed once since");
    scene.fail(21_800, 21_900).await;
    assert_eq!(scene.notify(21_820).await, 1);
    assert_eq!(scene.mails().await, (2, 0));
    scene.fail(21_900, 90_000).await;
    assert_eq!(scene.notify(80_000).await, 0, "once, however long it lasts");
    scene.deliver(90_000).await;
    assert_eq!(scene.notify(90_020).await, 1);
    assert_eq!(scene.mails().await, (2, 1));
}

#[tokio::test]
async fn an_endpoint_that_is_resumed_soon_after_the_mail_and_recovers_is_mailed_about_once() {
    let scene = Scene::new().await;
    scene.fail_twice(0).await;
    assert_eq!(scene.notify(20).await, 2);
    scene.pause(true, 30).await;
    scene.pause(false, 100).await;
    scene.deliver(110).await;
    assert_eq!(
        scene.notify(130).await,
        1,
        "long before the six hours are over"
    );
    assert_eq!(scene.failing_endpoints().await, 0);
    assert_eq!(scene.mails().await, (1, 1));
}

#[tokio::test]
async fn a_recovery_just_before_a_pause_is_mailed_after_the_resume() {
    let scene = Scene::new().await;
    scene.fail_twice(0).await;
    assert_eq!(scene.notify(20).await, 2);
    scene.deliver(70).await;
    scene.pause(true, 75).await;
    assert_eq!(scene.notify(80).await, 0);
    assert_eq!(scene.mails().await, (1, 0));
    scene.pause(false, 100).await;
    assert_eq!(scene.notify(110).await, 1);
    assert_eq!(scene.mails().await, (1, 1));
}

#[tokio::test]
async fn a_pause_ends_an_episode_that_no_mail_was_about() {
    let scene = Scene::new().await;
    scene.fail_twice(0).await;
    assert_eq!(scene.notify(20).await, 2);
    scene.deliver(100).await;
    assert_eq!(scene.notify(110).await, 1);
    assert_eq!(scene.mails().await, (1, 1));
    scene.fail_twice(1_000).await;
    assert_eq!(scene.notify(1_020).await, 1, "noted, not mailed");
    scene.pause(true, 1_030).await;
    assert_eq!(scene.notify(1_040).await, 1, "ended");
    assert_eq!(scene.notify(50_000).await, 0);
    assert_eq!(scene.mails().await, (1, 1));
}
