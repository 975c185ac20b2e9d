//! Due times: when a delivery is leased again, and the effects of a verdict.

use chrono::TimeDelta;

use crate::conformance::Host;
use crate::conformance::post::{arrived, delivery_of};
use crate::conformance::scene::Scene;
use crate::memory::DeliveryStatus;
use crate::port::{Trigger, Verdict};

/// A delivery is due from the time of its event on, not before.
pub async fn a_delivery_is_due_from_its_event_on(host: &dyn Host) {
    let scene = Scene::new(host).await;
    scene.endpoint(scene.payer).await;
    assert_eq!(scene.next_due().await, None);
    scene.post().await;
    assert_eq!(scene.next_due().await, Some(scene.now));
    let too_early = scene.earlier(TimeDelta::milliseconds(1));
    assert!(scene.claim_at(too_early).await.is_empty());
    scene.claim_one().await;
}

/// After a retry verdict the delivery waits until its due time and counts its attempts.
pub async fn a_failed_attempt_is_due_again_at_its_time(host: &dyn Host) {
    let scene = Scene::new(host).await;
    scene.endpoint(scene.payer).await;
    let event = scene.post().await;
    let mut now = scene.now;
    for made in 0..3 {
        let mut claimed = scene.claim_at(now).await;
        let leased = claimed.pop().unwrap();
        assert_eq!(leased.attempts_made, made);
        assert_eq!(leased.trigger, Trigger::Schedule);
        let at = now.saturating_add(TimeDelta::seconds(5));
        let verdict = Verdict::RetryAt {
            at,
            pause_endpoint: false,
        };
        assert!(scene.finish(&leased, verdict).await);
        assert_eq!(scene.next_due().await, Some(at));
        let just_before = at.saturating_sub(TimeDelta::milliseconds(1));
        assert!(scene.claim_at(just_before).await.is_empty());
        now = at;
    }
    let delivery = delivery_of(host, event).await;
    assert_eq!(delivery.status, DeliveryStatus::Pending);
    assert_eq!((delivery.due_at, delivery.attempts.len()), (now, 3));
}

/// A delivery that succeeded or failed for good is never leased again.
pub async fn an_ended_delivery_is_never_due(host: &dyn Host) {
    let scene = Scene::new(host).await;
    scene.endpoint(scene.payer).await;
    let failed = Verdict::Failed {
        pause_endpoint: false,
    };
    let endings = [
        (Verdict::Delivered, DeliveryStatus::Delivered),
        (failed, DeliveryStatus::Failed),
    ];
    for (verdict, status) in endings {
        let event = scene.post().await;
        let leased = scene.claim_one().await;
        assert!(scene.finish(&leased, verdict).await);
        assert_eq!(delivery_of(host, event).await.status, status);
    }
    host.advance_lease_clock(TimeDelta::days(1)).await;
    let much_later = scene.later(TimeDelta::days(365));
    assert!(scene.claim_at(much_later).await.is_empty());
    assert_eq!(scene.next_due().await, None);
}

/// The next due time is the earliest of all waiting deliveries.
pub async fn the_next_due_time_is_the_earliest(host: &dyn Host) {
    let scene = Scene::new(host).await;
    scene.endpoint(scene.payer).await;
    for _ in 0..3 {
        scene.post().await;
    }
    let claimed = scene.claim_at(scene.now).await;
    for (leased, minutes) in claimed.iter().zip([30, 10, 20]) {
        let verdict = Verdict::RetryAt {
            at: scene.later(TimeDelta::minutes(minutes)),
            pause_endpoint: false,
        };
        assert!(scene.finish(leased, verdict).await);
    }
    let earliest = scene.later(TimeDelta::minutes(10));
    assert_eq!(scene.next_due().await, Some(earliest));
    assert_eq!(scene.claim_at(earliest).await.len(), 1);
}

/// Until its first success an endpoint counts as healthy since its registration; then since its
/// last success, over all its deliveries.
pub async fn an_endpoint_is_healthy_since_its_last_success(host: &dyn Host) {
    let scene = Scene::new(host).await;
    scene.endpoint(scene.payer).await;
    let registered_at = scene.earlier(TimeDelta::days(1));
    let retry = Verdict::RetryAt {
        at: scene.now,
        pause_endpoint: false,
    };
    scene.post().await;
    scene.post().await;
    let first = scene.claim_at(scene.now).await;
    assert!(
        first
            .iter()
            .all(|it| it.endpoint_healthy_at == registered_at)
    );
    assert!(scene.finish(&first[0], retry).await);
    let success = scene.later(TimeDelta::seconds(7));
    let delivered = host
        .outbox()
        .finish(&first[1], &arrived(success), Verdict::Delivered)
        .await;
    assert!(delivered.unwrap());
    let again = scene.claim_one().await;
    assert_eq!(again.endpoint_healthy_at, success);
    assert!(scene.finish(&again, retry).await);
    assert_eq!(scene.claim_one().await.endpoint_healthy_at, success);
}
