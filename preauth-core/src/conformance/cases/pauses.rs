//! Paused endpoints: their deliveries are kept and not leased.

use chrono::TimeDelta;

use crate::conformance::Host;
use crate::conformance::post::delivery_of;
use crate::conformance::scene::Scene;
use crate::memory::DeliveryStatus;
use crate::port::{MailKind, Verdict};
use crate::value::Email;

/// While an endpoint is paused its deliveries wait; new events are still recorded for it.
// Contract: endpoint/pause
pub async fn a_paused_endpoint_keeps_its_deliveries(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let endpoint = scene.endpoint(scene.payer).await;
    let before = scene.post().await;
    host.pause_endpoint(endpoint).await;
    let meanwhile = scene.post().await;
    assert!(scene.claim_at(scene.now).await.is_empty());
    assert_eq!(scene.next_due().await, None);
    for event in [before, meanwhile] {
        assert_eq!(
            delivery_of(host, event).await.status,
            DeliveryStatus::Pending
        );
    }
    host.resume_endpoint(endpoint).await;
    assert_eq!(scene.next_due().await, Some(scene.now));
    let given: Vec<_> = scene.claim_at(scene.now).await;
    assert_eq!(given.len(), 2);
}

/// A paused endpoint does not delay the deliveries of another one.
pub async fn a_paused_endpoint_does_not_delay_another(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let payers = scene.endpoint(scene.payer).await;
    let suppliers = scene.endpoint(scene.supplier.id).await;
    scene.post().await;
    host.pause_endpoint(payers).await;
    assert_eq!(scene.claim_one().await.endpoint, suppliers);
}

/// A failure may pause its endpoint; its deliveries are all kept.
pub async fn a_verdict_may_pause_the_endpoint(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let endpoint = scene.endpoint(scene.payer).await;
    let at = scene.later(TimeDelta::seconds(5));
    let pause_endpoint = true;
    let retry = Verdict::RetryAt { at, pause_endpoint };
    let endings = [
        (retry, DeliveryStatus::Pending),
        (Verdict::Failed { pause_endpoint }, DeliveryStatus::Failed),
    ];
    for (verdict, status) in endings {
        let event = scene.post().await;
        let leased = scene.claim_one().await;
        assert!(scene.finish(&leased, verdict).await);
        assert_eq!(delivery_of(host, event).await.status, status);
        let waiting = scene.post().await;
        assert!(scene.claim_at(at).await.is_empty());
        host.resume_endpoint(endpoint).await;
        for leased in scene.claim_at(at).await {
            assert!([event, waiting].contains(&leased.event));
            assert!(scene.finish(&leased, Verdict::Delivered).await);
        }
        assert_eq!(
            delivery_of(host, waiting).await.status,
            DeliveryStatus::Delivered
        );
    }
}

/// A verdict that was reached by what was known at the lease pauses nobody who has taken a delivery since.
pub async fn a_success_meanwhile_prevents_the_pause(host: &dyn Host) {
    let scene = Scene::new(host).await;
    scene.endpoint(scene.payer).await;
    for _ in 0..2 {
        scene.post().await;
    }
    let leased = scene.claim_at(scene.now).await;
    let [first, second] = leased.as_slice() else {
        panic!("{leased:?}");
    };
    assert!(scene.finish(first, Verdict::Delivered).await);
    let at = scene.later(TimeDelta::seconds(5));
    let pause_endpoint = true;
    let retry = Verdict::RetryAt { at, pause_endpoint };
    assert!(scene.finish(second, retry).await);
    let again = scene.claim_at(at).await;
    assert_eq!(again.len(), 1, "it is not paused");
}

/// An attempt that was in progress when its endpoint was paused may still be recorded.
pub async fn a_delivery_under_way_survives_a_pause(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let endpoint = scene.endpoint(scene.payer).await;
    let event = scene.post().await;
    let leased = scene.claim_one().await;
    host.pause_endpoint(endpoint).await;
    assert!(scene.finish(&leased, Verdict::Delivered).await);
    assert_eq!(
        delivery_of(host, event).await.status,
        DeliveryStatus::Delivered
    );
}

/// An automatic pause mails each contact once; a manual one mails nobody.
pub async fn an_automatic_pause_is_mailed(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let endpoint = scene.endpoint(scene.payer).await;
    let readers = ["ana", "beto"].map(|name| {
        let address = format!("{name}.{}@example.com", scene.uuid().simple());
        Email::parse(&address).unwrap()
    });
    for reader in &readers {
        host.add_reader(scene.payer, reader.clone()).await;
    }
    host.pause_endpoint(endpoint).await;
    host.resume_endpoint(endpoint).await;
    for _ in 0..2 {
        scene.post().await;
    }
    let at = scene.later(TimeDelta::seconds(5));
    let pause_endpoint = true;
    let verdict = Verdict::RetryAt { at, pause_endpoint };
    for mails in [0, 1] {
        for reader in &readers {
            assert_eq!(host.mails_to(reader).await.len(), mails);
        }
        if mails == 0 {
            // The second finds the endpoint paused by the first.
            for leased in scene.claim_at(scene.now).await {
                assert!(scene.finish(&leased, verdict).await);
            }
        }
    }
    let mails = host.mails_to(&readers[0]).await;
    assert_eq!(mails[0].0, MailKind::EndpointPaused);
}
