//! Consecutive attempts: schedule, verdicts, signatures, leases.

use std::sync::Arc;

use chrono::TimeDelta;
use preauth_core::delivery::RETRY_DELAYS_SECONDS;
use preauth_core::memory::DeliveryStatus;
use preauth_core::port::{AttemptError, Outbox};
use tokio::sync::Notify;
use webhook_verify::{Secret, Verifier};

use super::{Receivers, SECRET, World, answer};
use crate::clock::Clock;
use crate::dispatcher::{Answer, RetryAfter};
use crate::secret::Vault;

#[tokio::test]
async fn a_delivery_that_is_confirmed_is_done() {
    let world = World::new();
    let event = world
        .event(world.endpoint("https://hooks.example.com/"))
        .await;
    let dispatcher = world.dispatcher(Receivers::answering(204));
    assert_eq!(dispatcher.run_once().await.unwrap(), 1);
    assert_eq!(dispatcher.run_once().await.unwrap(), 0);
    let delivery = world.delivery(event);
    assert_eq!(delivery.status, DeliveryStatus::Delivered);
    let attempt = &delivery.attempts[0];
    assert_eq!((attempt.http_status, attempt.error), (Some(204), None));
    assert_eq!(attempt.response_body, b"seen");
    assert_eq!(attempt.at, world.clock.now());
}

// Contract: delivery/attempts
#[tokio::test]
async fn eleven_attempts_follow_the_schedule_and_then_it_has_failed() {
    let world = World::new();
    let event = world
        .event(world.endpoint("https://hooks.example.com/"))
        .await;
    let receivers = Receivers::answering(500);
    let dispatcher = world.dispatcher(receivers.clone());
    for delay_seconds in RETRY_DELAYS_SECONDS {
        assert_eq!(dispatcher.run_once().await.unwrap(), 1);
        let due = world.store.next_due().await.unwrap().unwrap();
        let waits = due.since(world.clock.now());
        let delay = TimeDelta::seconds(delay_seconds);
        assert!(
            waits >= delay && waits <= delay * 11 / 10,
            "{waits} for {delay}"
        );
        world
            .clock
            .set(due.saturating_sub(TimeDelta::milliseconds(1)));
        assert_eq!(dispatcher.run_once().await.unwrap(), 0, "before its time");
        world.clock.set(due);
    }
    assert_eq!(world.delivery(event).status, DeliveryStatus::Pending);
    assert_eq!(dispatcher.run_once().await.unwrap(), 1);
    let delivery = world.delivery(event);
    assert_eq!(delivery.status, DeliveryStatus::Failed);
    assert_eq!(delivery.attempts.len(), 11);
    assert_eq!(delivery.attempts[10].error, Some(AttemptError::Status));
    assert_eq!(world.store.next_due().await.unwrap(), None);
    let bodies: Vec<_> = receivers.sent().into_iter().map(|it| it.body).collect();
    assert!(
        bodies.iter().all(|body| *body == bodies[0]),
        "the same bytes each time"
    );
}

#[tokio::test]
async fn a_receiver_in_trouble_may_ask_for_a_later_attempt() {
    for (status, expected_seconds) in [(503, 600..601), (429, 600..601), (500, 5..6)] {
        let world = World::new();
        let event = world
            .event(world.endpoint("https://hooks.example.com/"))
            .await;
        let receivers = Receivers::reacting(move |_| async move {
            Ok(Answer {
                retry_after: Some(RetryAfter::Seconds(600)),
                ..answer(status)
            })
        });
        world.dispatcher(receivers).run_once().await.unwrap();
        let waits = world.delivery(event).due_at.since(world.clock.now());
        assert!(
            expected_seconds.contains(&waits.num_seconds()),
            "{status}: {waits}"
        );
    }
}

// Contract: delivery/long-silence
#[tokio::test]
async fn an_endpoint_without_success_for_five_days_is_paused_and_keeps_its_deliveries() {
    let world = World::new();
    let five_days_ago = world.clock.now().saturating_sub(TimeDelta::days(5));
    let endpoint = world.endpoint_since("https://hooks.example.com/", five_days_ago);
    let (first, second) = (world.event(endpoint).await, world.event(endpoint).await);
    world
        .dispatcher(Receivers::answering(500))
        .run_once()
        .await
        .unwrap();
    world.clock.advance(TimeDelta::hours(1));
    let healthy = world.dispatcher(Receivers::answering(200));
    assert_eq!(healthy.run_once().await.unwrap(), 0, "paused");
    world.store.resume_endpoint(endpoint);
    assert_eq!(healthy.run_once().await.unwrap(), 2);
    for event in [first, second] {
        assert_eq!(world.delivery(event).status, DeliveryStatus::Delivered);
    }
}

#[tokio::test]
async fn an_endpoint_that_heard_something_lately_is_not_paused() {
    let world = World::new();
    let endpoint = world.endpoint("https://hooks.example.com/");
    world.clock.advance(TimeDelta::days(4));
    world.event(endpoint).await;
    world
        .dispatcher(Receivers::answering(200))
        .run_once()
        .await
        .unwrap();
    world.clock.advance(TimeDelta::days(4));
    world.event(endpoint).await;
    world
        .dispatcher(Receivers::answering(500))
        .run_once()
        .await
        .unwrap();
    world.clock.advance(TimeDelta::minutes(1));
    assert!(world.store.next_due().await.unwrap().is_some());
}

// Contract: endpoint/no-key delivery/x-service-signature
#[tokio::test]
async fn each_attempt_has_the_contracts_headers_and_a_fresh_signature() {
    let world = World::new();
    let event = world
        .event(world.endpoint("https://hooks.example.com/"))
        .await;
    let receivers = Receivers::answering(500);
    let dispatcher = world.dispatcher(receivers.clone());
    dispatcher.run_once().await.unwrap();
    world.clock.advance(TimeDelta::seconds(6));
    dispatcher.run_once().await.unwrap();
    let validate = Verifier::new(Secret::parse(SECRET).unwrap());
    let sent = receivers.sent();
    assert_eq!(sent.len(), 2);
    for (request, ago) in sent.iter().zip([6, 0]) {
        let names: Vec<_> = request.headers.iter().map(|(name, _)| *name).collect();
        let expected = [
            "content-type",
            "x-service-signature",
            "x-service-event-id",
            "x-service-event-type",
            "user-agent",
        ];
        assert_eq!(names, expected);
        assert_eq!(request.headers[0].1, "application/json");
        assert_eq!(request.headers[2].1, event.to_string());
        assert_eq!(request.headers[3].1, "payment_order.created");
        assert!(request.headers[4].1.starts_with("preauth/"));
        let now = world.clock.now().unix_seconds() - ago;
        let signature = request.headers[1].1.as_bytes();
        let verified = validate
            .verify(Some(signature), request.body.as_bytes(), now)
            .unwrap();
        assert_eq!(verified.signed_at_unix_seconds(), now);
    }
}

#[tokio::test]
async fn a_secret_that_cannot_be_opened_sends_nothing_and_is_tried_again() {
    let mut world = World::new();
    let event = world
        .event(world.endpoint("https://hooks.example.com/"))
        .await;
    world.vault = Vault::new(&[8; 32]);
    let receivers = Receivers::answering(200);
    world
        .dispatcher(receivers.clone())
        .run_once()
        .await
        .unwrap();
    assert_eq!(receivers.sent(), []);
    let delivery = world.delivery(event);
    assert_eq!(delivery.status, DeliveryStatus::Pending);
    assert_eq!(delivery.attempts[0].error, Some(AttemptError::Secret));
    assert!(delivery.due_at > world.clock.now());
}

#[tokio::test]
async fn a_stalled_attempt_does_not_overwrite_a_newer_mark() {
    let world = World::new();
    let event = world
        .event(world.endpoint("https://hooks.example.com/"))
        .await;
    let go_on = Arc::new(Notify::new());
    let waits = Arc::clone(&go_on);
    let stalled = world.dispatcher(Receivers::reacting(move |_| {
        let waits = Arc::clone(&waits);
        async move {
            waits.notified().await;
            Ok(answer(500))
        }
    }));
    let healthy = world.dispatcher(Receivers::answering(200));
    let overtake = async {
        world.clock.advance(TimeDelta::seconds(29));
        assert_eq!(healthy.run_once().await.unwrap(), 0, "leased to the other");
        world.clock.advance(TimeDelta::seconds(1));
        assert_eq!(
            healthy.run_once().await.unwrap(),
            1,
            "the lease has run out"
        );
        go_on.notify_one();
    };
    let (stalled, ()) = tokio::join!(stalled.run_once(), overtake);
    assert_eq!(stalled.unwrap(), 1);
    let delivery = world.delivery(event);
    assert_eq!(delivery.status, DeliveryStatus::Delivered);
    assert_eq!(delivery.attempts.len(), 1);
}
