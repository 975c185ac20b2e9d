//! Leases and due times left by a clock that was ahead for a while and came back.

use chrono::TimeDelta;

use crate::conformance::Host;
use crate::conformance::post::{claim, delivery_of};
use crate::conformance::scene::Scene;
use crate::delivery::{MAX_LEASE, MAX_RETRY_DELAY, RETRY_DELAYS_SECONDS};
use crate::port::{Claim, Leased, Verdict};
use crate::value::Timestamp;

const MANY: u32 = 1_000;
/// Longer than any lease by the clock of every host, whatever it shows.
const A_CENTURY: TimeDelta = TimeDelta::days(36_525);

/// A delivery that is due later than its schedule allows becomes due now, a bounded number at a time.
pub async fn a_delivery_due_after_its_schedule_becomes_due(host: &dyn Host) {
    let scene = Scene::new(host).await;
    scene.endpoint(scene.payer).await;
    for _ in 0..3 {
        scene.post().await;
    }
    let in_a_month = scene.later(TimeDelta::days(31));
    for leased in scene.claim_at(scene.now).await {
        put_off(&scene, &leased, in_a_month).await;
    }
    assert_eq!(bring_forward(&scene, 2).await, 2);
    assert_eq!(scene.next_due().await, Some(scene.now));
    let first = scene.claim_at(scene.now).await;
    assert_eq!(first.len(), 2);
    assert_eq!(first[0].attempts_made, 1, "its schedule goes on");
    assert_eq!(bring_forward(&scene, 2).await, 1);
    assert_eq!(bring_forward(&scene, 2).await, 0);
    scene.claim_one().await;
}

/// A delivery within the schedule keeps its due time, the longest delay with its jitter included.
pub async fn a_delivery_within_its_schedule_keeps_its_time(host: &dyn Host) {
    let scene = Scene::new(host).await;
    scene.endpoint(scene.payer).await;
    let longest = RETRY_DELAYS_SECONDS.into_iter().max().unwrap();
    let times = [longest * 11 / 10, MAX_RETRY_DELAY.num_seconds()];
    for seconds in times {
        let event = scene.post().await;
        let leased = scene.claim_one().await;
        let at = scene.later(TimeDelta::seconds(seconds));
        put_off(&scene, &leased, at).await;
        assert_eq!(bring_forward(&scene, MANY).await, 0);
        assert_eq!(delivery_of(host, event).await.due_at, at);
    }
}

/// A delivery kept for a paused endpoint waits for its resumption, and then becomes due as well.
pub async fn a_delivery_of_a_paused_endpoint_waits_for_its_resumption(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let endpoint = scene.endpoint(scene.payer).await;
    let event = scene.post().await;
    let leased = scene.claim_one().await;
    let in_a_month = scene.later(TimeDelta::days(31));
    put_off(&scene, &leased, in_a_month).await;
    host.pause_endpoint(endpoint).await;
    assert_eq!(bring_forward(&scene, MANY).await, 0);
    assert_eq!(delivery_of(host, event).await.due_at, in_a_month);
    host.resume_endpoint(endpoint).await;
    assert_eq!(bring_forward(&scene, MANY).await, 1);
    scene.claim_one().await;
}

/// A lease that lasts longer than any lease may ends; its holder may still finish it, until another has
/// the delivery.
pub async fn a_lease_longer_than_any_ends(host: &dyn Host) {
    let scene = Scene::new(host).await;
    scene.endpoint(scene.payer).await;
    for _ in 0..2 {
        scene.post().await;
    }
    let endless = Claim {
        lease: A_CENTURY,
        ..claim(scene.now, MANY, MANY)
    };
    let claimed = host.outbox().claim(&endless).await.unwrap().leased;
    let [first, second] = &claimed[..] else {
        panic!("{claimed:?}");
    };
    assert!(scene.claim_at(scene.now).await.is_empty());
    assert_eq!(bring_forward(&scene, MANY).await, 2);
    assert_eq!(bring_forward(&scene, MANY).await, 0);
    assert!(scene.finish(first, Verdict::Delivered).await);
    let again = scene.claim_one().await;
    assert_eq!(again.delivery, second.delivery);
    assert!(!scene.finish(second, Verdict::Delivered).await);
    assert!(scene.finish(&again, Verdict::Delivered).await);
}

/// A lease of a usual length stands.
pub async fn a_lease_of_a_usual_length_stands(host: &dyn Host) {
    let scene = Scene::new(host).await;
    scene.endpoint(scene.payer).await;
    scene.post().await;
    let usual = Claim {
        lease: MAX_LEASE - TimeDelta::seconds(30),
        ..claim(scene.now, MANY, MANY)
    };
    let claimed = host.outbox().claim(&usual).await.unwrap().leased;
    assert_eq!(bring_forward(&scene, MANY).await, 0);
    assert!(scene.claim_at(scene.now).await.is_empty());
    assert!(scene.finish(&claimed[0], Verdict::Delivered).await);
}

/// By a clock of the host that is behind every lease lasts too long: one that does not by the service's clock
/// stands.
pub async fn a_clock_of_the_host_that_is_behind_ends_no_lease(host: &dyn Host) {
    let scene = Scene::new(host).await;
    scene.endpoint(scene.payer).await;
    scene.post().await;
    let endless = Claim {
        lease: A_CENTURY,
        ..claim(scene.now, MANY, MANY)
    };
    let claimed = host.outbox().claim(&endless).await.unwrap().leased;
    let ahead = scene.later(A_CENTURY + A_CENTURY);
    let outbox = host.outbox();
    assert_eq!(outbox.bring_forward(ahead, MANY).await.unwrap(), 0);
    assert!(scene.claim_at(scene.now).await.is_empty());
    assert!(scene.finish(&claimed[0], Verdict::Delivered).await);
}

async fn bring_forward(scene: &Scene<'_>, limit: u32) -> u64 {
    let outbox = scene.host.outbox();
    outbox.bring_forward(scene.now, limit).await.unwrap()
}

async fn put_off(scene: &Scene<'_>, leased: &Leased, at: Timestamp) {
    let verdict = Verdict::RetryAt {
        at,
        pause_endpoint: false,
    };
    assert!(scene.finish(leased, verdict).await);
}
