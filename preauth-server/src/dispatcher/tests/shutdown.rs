//! Shutdown: nothing new begins; attempts in progress are finished or their leases returned.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use preauth_core::memory::DeliveryStatus;
use preauth_core::port::Outbox;
use tokio::sync::Notify;

use super::{Receivers, World, answer, eventually, limits, until};
use crate::clock::Clock;
use crate::dispatcher::Limits;
use crate::worker::shutdown;

#[tokio::test]
async fn an_attempt_under_way_is_finished_at_the_end() {
    let world = World::new();
    let endpoint = world.endpoint("https://hooks.example.com/");
    let event = world.event(endpoint).await;
    let go_on = Arc::new(Notify::new());
    let waits = Arc::clone(&go_on);
    let receivers = Receivers::reacting(move |_| {
        let waits = Arc::clone(&waits);
        async move {
            waits.notified().await;
            Ok(answer(200))
        }
    });
    let dispatcher = world.dispatcher(receivers.clone());
    let (trigger, watching) = shutdown();
    let watch = async {
        until(|| receivers.sent().len() == 1).await;
        trigger.request();
        world.event(endpoint).await;
        world.wake.notify_one();
        tokio::time::sleep(Duration::from_millis(30)).await;
        go_on.notify_one();
    };
    eventually(async { tokio::join!(dispatcher.run(watching), watch) }).await;
    assert_eq!(world.delivery(event).status, DeliveryStatus::Delivered);
    assert_eq!(receivers.sent().len(), 1, "nothing new began");
}

#[tokio::test]
async fn an_attempt_that_takes_too_long_is_returned_at_the_end() {
    let world = World::new();
    let event = world
        .event(world.endpoint("https://hooks.example.com/"))
        .await;
    let receivers = Receivers::reacting(|_| pending());
    let dispatcher = world.dispatcher(receivers.clone()).with_limits(Limits {
        drain: Duration::from_millis(10),
        ..limits()
    });
    let (trigger, watching) = shutdown();
    let watch = async {
        until(|| receivers.sent().len() == 1).await;
        assert_eq!(world.store.next_due().await.unwrap(), None, "leased");
        trigger.request();
    };
    eventually(async { tokio::join!(dispatcher.run(watching), watch) }).await;
    assert_eq!(
        world.store.next_due().await.unwrap(),
        Some(world.clock.now())
    );
    assert_eq!(world.delivery(event).attempts, [], "no attempt was made");
}
