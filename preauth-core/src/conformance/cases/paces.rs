//! Slow endpoints: together they get a limited share of attempts, so that they delay no other endpoint.

use std::collections::BTreeSet;
use std::num::NonZeroU32;

use chrono::TimeDelta;

use crate::conformance::Host;
use crate::conformance::post::{LEASE, claim};
use crate::conformance::scene::Scene;
use crate::delivery::SLOW_ATTEMPT;
use crate::port::{Claim, Leased, Verdict};
use crate::value::EndpointId;

const QUICK: TimeDelta = TimeDelta::milliseconds(999);

/// The duration of the last attempt decides whether an endpoint is slow, whether it succeeded or failed.
pub async fn an_endpoint_is_slow_after_a_slow_attempt_until_a_quick_one(host: &dyn Host) {
    let scene = Scene::new(host).await;
    scene.endpoint(scene.payer).await;
    scene.post().await;
    for (duration, is_slow) in [
        (QUICK, false),
        (SLOW_ATTEMPT, true),
        (TimeDelta::seconds(10), true),
        (QUICK, false),
        (SLOW_ATTEMPT, true),
    ] {
        let leased = scene.claim_one().await;
        scene.refuse_after(&leased, duration).await;
        let next = scene.claim_one().await;
        assert_eq!(next.endpoint_is_slow, is_slow, "after {duration}");
        host.outbox().release(&next).await.unwrap();
    }
    let leased = scene.claim_one().await;
    assert!(scene.finish(&leased, Verdict::Delivered).await);
    scene.post().await;
    assert!(!scene.claim_one().await.endpoint_is_slow);
}

/// The dispatcher marks an endpoint as slow before its slow attempt ends.
pub async fn an_endpoint_is_slow_while_an_attempt_to_it_is(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let hanging = scene.endpoint(scene.payer).await;
    scene.post().await;
    scene.post().await;
    let mut claimed = host
        .outbox()
        .claim(&claim(scene.now, 1, 8))
        .await
        .unwrap()
        .leased;
    let first = claimed.remove(0);
    let unknown = EndpointId::new(scene.uuid());
    let noted = host.outbox().note_slow(&[hanging, unknown]).await;
    noted.unwrap();
    let second = scene.claim_one().await;
    assert!(second.endpoint_is_slow);
    assert!(scene.finish(&first, Verdict::Delivered).await);
    host.outbox().release(&second).await.unwrap();
    assert!(!scene.claim_one().await.endpoint_is_slow);
}

/// An attempt that is not recorded does not change the endpoint either.
pub async fn an_old_lease_makes_no_endpoint_slow(host: &dyn Host) {
    let scene = Scene::new(host).await;
    scene.endpoint(scene.payer).await;
    scene.post().await;
    let stalled = scene.claim_one().await;
    host.advance_lease_clock(LEASE + TimeDelta::seconds(1))
        .await;
    let newer = scene.claim_one().await;
    let failed = Verdict::Failed {
        pause_endpoint: false,
    };
    assert!(!scene.finish(&stalled, failed).await);
    host.outbox().release(&newer).await.unwrap();
    assert!(!scene.claim_one().await.endpoint_is_slow);
}

/// Even if they have waited longer and have fewer attempts in progress.
pub async fn slow_endpoints_come_after_all_others(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let slow = slow_endpoint(&scene).await;
    for _ in 0..3 {
        scene.post().await;
    }
    let quick = scene.endpoint(scene.supplier.id).await;
    for _ in 0..3 {
        scene.post().await;
    }
    let claimed = host
        .outbox()
        .claim(&claim(scene.now, 4, 8))
        .await
        .unwrap()
        .leased;
    let endpoints: Vec<_> = claimed.iter().map(|leased| leased.endpoint).collect();
    assert_eq!(endpoints, [quick, quick, quick, slow]);
}

/// All slow endpoints together have a limit of their own; the endpoint with the fewest attempts in
/// progress comes first.
pub async fn slow_endpoints_share_a_limit(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let slow = slow_endpoint(&scene).await;
    for _ in 0..3 {
        scene.post().await;
    }
    let slow_too = scene.endpoint(scene.supplier.id).await;
    scene.post().await;
    let of_supplier = scene.claim_at(scene.now).await;
    for leased in &of_supplier {
        if leased.endpoint == slow_too {
            scene.refuse_after(leased, SLOW_ATTEMPT).await;
        } else {
            host.outbox().release(leased).await.unwrap();
        }
    }
    let claim = |slow_limit| Claim {
        slow_limit,
        ..claim(scene.now, 100, 2)
    };
    assert!(
        host.outbox()
            .claim(&claim(0))
            .await
            .unwrap()
            .leased
            .is_empty()
    );
    assert_eq!(scene.next_due().await, Some(scene.now), "it is due still");
    let two = host.outbox().claim(&claim(2)).await.unwrap().leased;
    assert_eq!(of(&two, slow).len(), 1, "each its first");
    assert_eq!(of(&two, slow_too).len(), 1);
    let third = host.outbox().claim(&claim(2)).await.unwrap().leased;
    assert_eq!(of(&third, slow).len(), 1, "up to the limit of each");
    assert!(of(&third, slow_too).is_empty());
}

/// While others may have few attempts in progress, an endpoint that answers may have more.
pub async fn an_answering_endpoint_has_a_limit_of_its_own(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let slow = slow_endpoint(&scene).await;
    let answering = scene.endpoint(scene.supplier.id).await;
    for _ in 0..4 {
        scene.post().await;
    }
    let usual = claim(scene.now, 100, 1);
    let claim = Claim {
        answering: vec![slow, answering],
        per_answering_endpoint: NonZeroU32::new(3).unwrap(),
        ..usual.clone()
    };
    let claimed = host.outbox().claim(&usual).await.unwrap();
    for endpoint in [slow, answering] {
        assert_eq!(of(&claimed.leased, endpoint).len(), 1);
        assert!(claimed.full.contains(&endpoint));
    }
    let claimed = host.outbox().claim(&claim).await.unwrap();
    assert_eq!(of(&claimed.leased, answering).len(), 2);
    assert_eq!(of(&claimed.leased, slow).len(), 0, "slow comes first");
    assert_eq!(
        BTreeSet::from_iter(claimed.full),
        BTreeSet::from([slow, answering])
    );
}

/// A quick endpoint may have more attempts in progress than a slow one.
pub async fn a_slow_endpoint_has_a_limit_of_its_own(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let slow = slow_endpoint(&scene).await;
    let quick = scene.endpoint(scene.supplier.id).await;
    for _ in 0..4 {
        scene.post().await;
    }
    let claim = Claim {
        per_slow_endpoint: NonZeroU32::new(2).unwrap(),
        ..claim(scene.now, 100, 3)
    };
    let both = BTreeSet::from([slow, quick]);
    let claimed = host.outbox().claim(&claim).await.unwrap();
    for (endpoint, limit) in [(slow, 2), (quick, 3)] {
        assert_eq!(of(&claimed.leased, endpoint).len(), limit);
    }
    assert_eq!(BTreeSet::from_iter(claimed.full), both);
    let again = host.outbox().claim(&claim).await.unwrap();
    assert_eq!(again.leased, []);
    assert_eq!(BTreeSet::from_iter(again.full), both);
}

/// The payer's endpoint, made slow by an attempt of a delivery that is due again.
async fn slow_endpoint(scene: &Scene<'_>) -> EndpointId {
    let endpoint = scene.endpoint(scene.payer).await;
    scene.post().await;
    let leased = scene.claim_one().await;
    scene.refuse_after(&leased, SLOW_ATTEMPT).await;
    endpoint
}

fn of(leases: &[Leased], endpoint: EndpointId) -> Vec<&Leased> {
    let leases = leases.iter();
    leases.filter(|it| it.endpoint == endpoint).collect()
}
