//! Leases: one worker at a time; a worker whose delivery was leased again records nothing.

use chrono::TimeDelta;

use crate::conformance::Host;
use crate::conformance::post::{LEASE, claim, delivery_of};
use crate::conformance::scene::Scene;
use crate::memory::DeliveryStatus;
use crate::port::{Claim, Claimed, Leased, Verdict};

/// A delivery with a valid lease is not claimed again; after the lease has expired it is.
pub async fn a_lease_keeps_a_delivery_until_it_ends(host: &dyn Host) {
    let scene = Scene::new(host).await;
    scene.endpoint(scene.payer).await;
    let event = scene.post().await;
    let first = scene.claim_one().await;
    // Due times are by the service's clock, leases by the host's: a late `now` does not end a lease.
    let much_later = scene.later(TimeDelta::days(1));
    assert!(scene.claim_at(much_later).await.is_empty());
    host.advance_lease_clock(LEASE - TimeDelta::seconds(10))
        .await;
    assert!(scene.claim_at(scene.now).await.is_empty());
    host.advance_lease_clock(TimeDelta::seconds(11)).await;
    let second = scene.claim_one().await;
    assert_eq!((second.delivery, second.event), (first.delivery, event));
    assert_eq!(
        second.attempts_made, 0,
        "an attempt that was not reported does not count"
    );
    assert_ne!(second.token, first.token);
}

/// The stalled holder of an old lease overwrites nothing.
pub async fn an_old_lease_finishes_nothing(host: &dyn Host) {
    let scene = Scene::new(host).await;
    scene.endpoint(scene.payer).await;
    let event = scene.post().await;
    let stalled = scene.claim_one().await;
    host.advance_lease_clock(LEASE + TimeDelta::seconds(1))
        .await;
    let newer = scene.claim_one().await;
    let pause_endpoint = true;
    assert!(
        !scene
            .finish(&stalled, Verdict::Failed { pause_endpoint })
            .await
    );
    host.outbox().release(&stalled).await.unwrap();
    let untouched = delivery_of(host, event).await;
    assert_eq!(untouched.status, DeliveryStatus::Pending);
    assert!(untouched.attempts.is_empty());
    assert!(
        scene.claim_at(scene.now).await.is_empty(),
        "the newer lease stands"
    );
    assert!(scene.finish(&newer, Verdict::Delivered).await);
    assert!(
        !scene
            .finish(&stalled, Verdict::Failed { pause_endpoint })
            .await
    );
    let delivery = delivery_of(host, event).await;
    assert_eq!(delivery.status, DeliveryStatus::Delivered);
    assert_eq!(delivery.attempts.len(), 1);
}

/// An expired lease is still the newest until the delivery is leased again: its result is recorded.
pub async fn a_lease_that_ran_out_may_still_be_finished(host: &dyn Host) {
    let scene = Scene::new(host).await;
    scene.endpoint(scene.payer).await;
    let event = scene.post().await;
    let leased = scene.claim_one().await;
    host.advance_lease_clock(LEASE + TimeDelta::seconds(1))
        .await;
    assert!(scene.finish(&leased, Verdict::Delivered).await);
    assert_eq!(delivery_of(host, event).await.attempts.len(), 1);
    assert!(scene.claim_at(scene.now).await.is_empty());
}

/// A lease is finished once, with any verdict.
pub async fn a_lease_is_finished_once(host: &dyn Host) {
    let scene = Scene::new(host).await;
    scene.endpoint(scene.payer).await;
    let verdicts = [
        Verdict::Delivered,
        Verdict::RetryAt {
            at: scene.later(TimeDelta::days(1)),
            pause_endpoint: false,
        },
        Verdict::Failed {
            pause_endpoint: false,
        },
    ];
    for verdict in verdicts {
        let event = scene.post().await;
        let leased = scene.claim_one().await;
        assert!(scene.finish(&leased, verdict).await);
        assert!(!scene.finish(&leased, Verdict::Delivered).await);
        assert_eq!(delivery_of(host, event).await.attempts.len(), 1);
    }
}

/// A released delivery is due again at once, without an attempt; its old lease is invalid.
pub async fn a_released_delivery_is_due_again_at_once(host: &dyn Host) {
    let scene = Scene::new(host).await;
    scene.endpoint(scene.payer).await;
    let event = scene.post().await;
    let released = scene.claim_one().await;
    host.outbox().release(&released).await.unwrap();
    assert_eq!(scene.next_due().await, Some(scene.now));
    assert!(!scene.finish(&released, Verdict::Delivered).await);
    let again = scene.claim_one().await;
    assert_eq!(
        (again.delivery, again.attempts_made),
        (released.delivery, 0)
    );
    assert_ne!(again.token, released.token);
    assert!(delivery_of(host, event).await.attempts.is_empty());
}

/// Valid leases of one endpoint never exceed the limit of the claim, earlier claims included, and
/// never delay another endpoint.
pub async fn one_endpoint_has_a_bounded_share(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let payers = scene.endpoint(scene.payer).await;
    for _ in 0..5 {
        scene.post().await;
    }
    let suppliers = scene.endpoint(scene.supplier.id).await;
    scene.post().await;
    let two_each = claim(scene.now, 100, 2);
    let first = lease(host, &two_each).await;
    assert_eq!(count(&first, |it| it.endpoint == payers), 2);
    assert_eq!(count(&first, |it| it.endpoint == suppliers), 1);
    assert!(lease(host, &two_each).await.is_empty());
    let wider = lease(host, &claim(scene.now, 100, 3)).await;
    assert_eq!(count(&wider, |it| it.endpoint == payers), 1);
    let done = first.iter().find(|it| it.endpoint == payers).unwrap();
    assert!(scene.finish(done, Verdict::Delivered).await);
    assert!(lease(host, &two_each).await.is_empty());
    host.advance_lease_clock(LEASE + TimeDelta::seconds(1))
        .await;
    let after = lease(host, &two_each).await;
    assert_eq!(count(&after, |it| it.endpoint == payers), 2);
}

/// A long queue delays no other endpoint: neither through the limit of a claim nor because it is older.
pub async fn a_long_queue_leaves_room_for_others(host: &dyn Host) {
    let scene = Scene::new(host).await;
    scene.endpoint(scene.payer).await;
    for _ in 0..20 {
        scene.post().await;
    }
    let suppliers = scene.endpoint(scene.supplier.id).await;
    scene.post().await;
    let claimed = lease(host, &claim(scene.now, 3, 1)).await;
    assert_eq!(claimed.len(), 2);
    assert_eq!(count(&claimed, |it| it.endpoint == suppliers), 1);
    for leased in &claimed {
        host.outbox().release(leased).await.unwrap();
    }
    let claimed = lease(host, &claim(scene.now, 2, 8)).await;
    assert_eq!(
        count(&claimed, |it| it.endpoint == suppliers),
        1,
        "each its first"
    );
}

/// A claim reports the endpoints whose limit holds due deliveries back, also if earlier claims have
/// reached it.
pub async fn a_full_endpoint_is_reported(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let payers = scene.endpoint(scene.payer).await;
    for _ in 0..4 {
        scene.post().await;
    }
    scene.endpoint(scene.supplier.id).await;
    scene.post().await;
    let outbox = host.outbox();
    let first = outbox.claim(&claim(scene.now, 100, 3)).await.unwrap();
    assert_eq!(count(&first.leased, |it| it.endpoint == payers), 3);
    assert_eq!(first.full, [payers], "it took the last place");
    let second = outbox.claim(&claim(scene.now, 100, 3)).await.unwrap();
    assert_eq!(second.leased, []);
    assert_eq!(second.full, [payers], "others have all places");
    let wider = outbox.claim(&claim(scene.now, 100, 8)).await.unwrap();
    assert_eq!((wider.leased.len(), wider.full), (2, vec![]));
    let narrow = outbox.claim(&claim(scene.now, 100, 1)).await.unwrap();
    assert_eq!(narrow, Claimed::default(), "nothing is due");
    for leased in &first.leased {
        outbox.release(leased).await.unwrap();
    }
    let again = outbox.claim(&claim(scene.now, 100, 8)).await.unwrap();
    assert_eq!((again.leased.len(), again.full), (4, vec![]));
}

async fn lease(host: &dyn Host, claim: &Claim) -> Vec<Leased> {
    host.outbox().claim(claim).await.unwrap().leased
}

fn count(leases: &[Leased], which: impl Fn(&&Leased) -> bool) -> usize {
    leases.iter().filter(which).count()
}
