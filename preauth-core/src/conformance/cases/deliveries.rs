//! The deliveries of a commit. These cases claim all due deliveries.

use crate::conformance::post::{arrived, claim, delivery_of, refused};
use crate::conformance::scene::{Scene, target_of};
use crate::conformance::{Host, draft};
use crate::memory::DeliveryStatus;
use crate::port::{Attempt, AttemptError, Trigger, Verdict};
use crate::value::EventType;

/// Payer and supplier get the same event: one id, one frozen body, two deliveries.
pub async fn an_event_goes_to_every_subscribed_endpoint(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let payers = scene.endpoint(scene.payer).await;
    let suppliers = scene.endpoint(scene.supplier.id).await;
    let only_concluded = [EventType::AnticipationConcluded].into_iter().collect();
    let other_payer = scene.another_payer().await;
    scene.endpoint_for(other_payer, only_concluded).await;
    let operation = scene.begin(&scene.offer()).await;
    let event = scene.history(operation.id).await.remove(0);
    let mut claimed = scene.claim_at(scene.now).await;
    claimed.sort_by_key(|leased| leased.endpoint);
    let mut expected = vec![payers, suppliers];
    expected.sort_unstable();
    let endpoints: Vec<_> = claimed.iter().map(|leased| leased.endpoint).collect();
    assert_eq!(endpoints, expected);
    assert_ne!(claimed[0].delivery, claimed[1].delivery);
    assert_ne!(claimed[0].token, claimed[1].token);
    for leased in claimed {
        assert_eq!(leased.event, event.id);
        assert_eq!(
            event.event_type,
            leased.event_type.parse::<EventType>().unwrap()
        );
        assert_eq!(leased.body.as_bytes(), event.body.as_bytes());
        assert_eq!(
            leased.url,
            format!("https://receiver.example/{}", leased.endpoint)
        );
        assert_eq!(leased.sealed_secrets, [vec![0, 1, 2, 0xFE, 0xFF]]);
        assert_eq!(leased.attempts_made, 0);
        assert_eq!(leased.trigger, Trigger::Schedule);
    }
}

/// An endpoint that did not choose the type gets no delivery.
// Contract: version/only-subscribed-events
pub async fn an_event_that_nobody_chose_has_no_delivery(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let only_concluded = [EventType::AnticipationConcluded].into_iter().collect();
    scene.endpoint_for(scene.payer, only_concluded).await;
    let event = scene.post().await;
    assert!(host.deliveries(event).await.is_empty());
    assert!(scene.claim_at(scene.now).await.is_empty());
    assert_eq!(scene.next_due().await, None);
}

/// A delivery to an endpoint that was deleted after the decision is dropped; the commit succeeds.
pub async fn a_delivery_to_a_deleted_endpoint_is_dropped(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let payers = scene.endpoint(scene.payer).await;
    let suppliers = scene.endpoint(scene.supplier.id).await;
    let offer = scene.offer();
    let loaded = host.store().load_offer(&target_of(&offer)).await;
    let commit = draft::opening(&scene, &offer, &loaded.unwrap().unwrap(), None, scene.now);
    let event = commit.event.id;
    assert_eq!(commit.deliveries.len(), 2);
    host.delete_endpoint(suppliers).await;
    host.store().commit(commit).await.unwrap();
    assert_eq!(delivery_of(host, event).await.endpoint, payers);
    assert_eq!(scene.claim_one().await.endpoint, payers);
}

/// Deleting an endpoint fails its pending deliveries, and no others.
pub async fn deleting_an_endpoint_ends_its_pending_deliveries(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let endpoint = scene.endpoint(scene.payer).await;
    let delivered = scene.post().await;
    let leased = scene.claim_one().await;
    assert!(scene.finish(&leased, Verdict::Delivered).await);
    let pending = scene.post().await;
    host.delete_endpoint(endpoint).await;
    assert_eq!(
        delivery_of(host, pending).await.status,
        DeliveryStatus::Failed
    );
    assert_eq!(
        delivery_of(host, delivered).await.status,
        DeliveryStatus::Delivered
    );
    assert!(scene.claim_at(scene.now).await.is_empty());
    assert_eq!(scene.next_due().await, None);
}

/// Attempts are stored unchanged, including the bytes of the receiver's answer.
pub async fn every_attempt_is_kept_as_it_was(host: &dyn Host) {
    let scene = Scene::new(host).await;
    scene.endpoint(scene.payer).await;
    let event = scene.post().await;
    let errors = AttemptError::ALL.iter().copied();
    let errors = errors.filter(|error| *error != AttemptError::Status);
    let without_answer = errors.map(|error| Attempt {
        http_status: None,
        error: Some(error),
        response_body: Vec::new(),
        ..refused(scene.now)
    });
    let mut long = refused(scene.now);
    long.response_body = vec![0xAA; 1_024];
    let mut attempts = vec![refused(scene.now), long];
    attempts.extend(without_answer);
    for attempt in &attempts {
        let leased = scene.claim_one().await;
        let verdict = Verdict::RetryAt {
            at: scene.now,
            pause_endpoint: false,
        };
        let finished = host.outbox().finish(&leased, attempt, verdict).await;
        assert!(finished.unwrap());
    }
    let leased = scene.claim_one().await;
    assert!(scene.finish(&leased, Verdict::Delivered).await);
    attempts.push(arrived(scene.now));
    let delivery = delivery_of(host, event).await;
    assert_eq!(delivery.attempts, attempts);
    assert_eq!(delivery.status, DeliveryStatus::Delivered);
}

/// A claim returns the longest due deliveries first, and no more than its limit.
pub async fn the_longest_due_are_given_out_first(host: &dyn Host) {
    let mut scene = Scene::new(host).await;
    scene.endpoint(scene.payer).await;
    let mut events = Vec::new();
    for minutes in [30, 10, 20] {
        scene.now = scene.earlier(chrono::TimeDelta::minutes(minutes));
        events.push(scene.post().await);
        scene.now = scene.later(chrono::TimeDelta::minutes(minutes));
    }
    let outbox = host.outbox();
    let first = outbox.claim(&claim(scene.now, 2, 10)).await.unwrap().leased;
    let claimed: Vec<_> = first.iter().map(|leased| leased.event).collect();
    assert_eq!(claimed, [events[0], events[2]]);
    assert_eq!(scene.claim_one().await.event, events[1]);
}
