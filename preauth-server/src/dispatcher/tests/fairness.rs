//! A failing endpoint does not affect others, and due deliveries are found in time.

use std::future::pending;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use preauth_core::memory::DeliveryStatus;
use preauth_core::port::AttemptError;
use preauth_core::value::EventId;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::{Receivers, World, answer, eventually, limits, until};
use crate::clock::{Clock, SystemClock};
use crate::dispatcher::{Dispatcher, Limits};
use crate::worker::shutdown;

const HANGING: &str = "https://hanging.example.com/";
const HEALTHY: &str = "https://healthy.example.com/";
const GATED: &str = "https://gated.example.com/";

/// One receiver never answers; all others answer immediately.
fn one_hangs() -> Arc<Receivers> {
    Receivers::reacting(|request| {
        let hangs = request.url == HANGING;
        async move {
            if hangs {
                pending().await
            } else {
                Ok(answer(200))
            }
        }
    })
}

#[tokio::test]
async fn a_hanging_endpoint_delays_nobody() {
    let world = World::new();
    let (hanging, healthy) = (world.endpoint(HANGING), world.endpoint(HEALTHY));
    for _ in 0..30 {
        world.event(hanging).await;
    }
    let mut events = Vec::new();
    for _ in 0..30 {
        events.push(world.event(healthy).await);
    }
    let receivers = one_hangs();
    let dispatcher = world.dispatcher(receivers.clone()).with_limits(Limits {
        drain: Duration::ZERO,
        ..limits()
    });
    let (trigger, watching) = shutdown();
    let watch = async {
        let is_done = |event| world.delivery(event).status == DeliveryStatus::Delivered;
        until(|| events.iter().all(|event| is_done(*event))).await;
        // Events recorded while the other receiver hangs are delivered as well.
        let late = world.event(healthy).await;
        world.wake.notify_one();
        until(|| is_done(late)).await;
        trigger.request();
    };
    eventually(async { tokio::join!(dispatcher.run(watching), watch) }).await;
    let to_hanging = receivers
        .sent()
        .iter()
        .filter(|it| it.url == HANGING)
        .count();
    assert_eq!(to_hanging, 2, "no more than its share");
}

#[tokio::test]
async fn an_attempt_without_end_is_given_up() {
    let world = World::new();
    let event = world.event(world.endpoint(HANGING)).await;
    let dispatcher = world.dispatcher(one_hangs()).with_limits(Limits {
        attempt: Duration::from_millis(5),
        ..limits()
    });
    eventually(dispatcher.run_once()).await.unwrap();
    assert_eq!(
        world.delivery(event).attempts[0].error,
        Some(AttemptError::TimedOut)
    );
}

#[tokio::test]
async fn no_more_than_the_limit_is_under_way_at_once() {
    let world = World::new();
    for number in 0..5 {
        world
            .event(world.endpoint(&format!("https://{number}.example.com/")))
            .await;
    }
    let dispatcher = world
        .dispatcher(Receivers::answering(200))
        .with_limits(Limits {
            quick: NonZeroU32::new(3).unwrap(),
            ..limits()
        });
    assert_eq!(dispatcher.run_once().await.unwrap(), 3);
    assert_eq!(dispatcher.run_once().await.unwrap(), 2);
}

#[tokio::test]
async fn a_wake_up_is_heard_at_once() {
    let world = World::new();
    let endpoint = world.endpoint(HEALTHY);
    let dispatcher = world
        .dispatcher(Receivers::answering(200))
        .with_limits(patient());
    let (trigger, watching) = shutdown();
    let watch = async {
        tokio::time::sleep(Duration::from_millis(20)).await;
        let event = world.event(endpoint).await;
        world.wake.notify_one();
        until(|| world.delivery(event).status == DeliveryStatus::Delivered).await;
        trigger.request();
    };
    eventually(async { tokio::join!(dispatcher.run(watching), watch) }).await;
}

#[tokio::test]
async fn a_delivery_due_later_is_sent_when_it_falls_due() {
    let world = World::new();
    world.clock.set(SystemClock.now());
    let endpoint = world.endpoint(HEALTHY);
    let soon = SystemClock
        .now()
        .saturating_add(TimeDelta::milliseconds(60));
    let event = world.event_at(endpoint, soon).await;
    let (outbox, clock) = (world.store.clone(), Arc::new(SystemClock));
    let (vault, wake) = (world.vault.clone(), Arc::clone(&world.wake));
    let dispatcher = Dispatcher::new(outbox, Receivers::answering(200), vault, clock, wake)
        .with_limits(patient());
    let (trigger, watching) = shutdown();
    let watch = async {
        until(|| world.delivery(event).status == DeliveryStatus::Delivered).await;
        trigger.request();
    };
    eventually(async { tokio::join!(dispatcher.run(watching), watch) }).await;
    assert!(world.delivery(event).attempts[0].at >= soon);
}

#[tokio::test]
async fn a_clock_that_jumps_is_noticed() {
    let world = World::new();
    let event = world.event(world.endpoint(HEALTHY)).await;
    let dispatcher = world.dispatcher(Receivers::answering(500));
    let (trigger, watching) = shutdown();
    let watch = async {
        for attempts in 1..=5 {
            until(|| world.delivery(event).attempts.len() == attempts).await;
            world.clock.advance(TimeDelta::hours(3));
        }
        trigger.request();
    };
    eventually(async { tokio::join!(dispatcher.run(watching), watch) }).await;
}

#[tokio::test(start_paused = true)]
async fn a_queue_goes_on_whenever_one_of_its_attempts_ends() {
    let world = World::new();
    let endpoint = world.endpoint(HEALTHY);
    let mut events = Vec::new();
    for _ in 0..40 {
        events.push(world.event(endpoint).await);
    }
    let receivers = Receivers::reacting(|_| async {
        tokio::time::sleep(Duration::from_millis(10)).await;
        Ok(answer(200))
    });
    let dispatcher = world.dispatcher(receivers).with_limits(patient());
    let (trigger, watching) = shutdown();
    let begun = Instant::now();
    let watch = async {
        let is_done = |event: &EventId| world.delivery(*event).status == DeliveryStatus::Delivered;
        until(|| events.iter().all(is_done)).await;
        trigger.request();
    };
    tokio::join!(dispatcher.run(watching), watch);
    // Two at a time: twenty rounds, each with an attempt and a poll.
    assert!(begun.elapsed() < Duration::from_millis(400));
}

#[tokio::test(start_paused = true)]
async fn a_waiting_delivery_gets_the_first_free_slot() {
    let world = World::new();
    for number in 0..40 {
        let endpoint = world.endpoint(&format!("https://{number}.example.com/"));
        world.event(endpoint).await;
    }
    let receivers = Receivers::reacting(|_| async {
        tokio::time::sleep(Duration::from_millis(10)).await;
        Ok(answer(200))
    });
    let dispatcher = world.dispatcher(receivers.clone()).with_limits(Limits {
        quick: NonZeroU32::MIN,
        ..patient()
    });
    let (trigger, watching) = shutdown();
    let begun = Instant::now();
    let watch = async {
        until(|| receivers.sent().len() == 40).await;
        trigger.request();
    };
    tokio::join!(dispatcher.run(watching), watch);
    assert!(begun.elapsed() < Duration::from_millis(800));
}

#[tokio::test(start_paused = true)]
async fn a_slot_of_what_a_commit_handed_over_is_taken_when_it_ends() {
    let world = World::new();
    let gate = Arc::new(Notify::new());
    let opened = Arc::clone(&gate);
    let receivers = Receivers::reacting(move |request| {
        let (hangs, waits) = (request.url == HANGING, request.url == GATED);
        let gate = Arc::clone(&opened);
        async move {
            if hangs {
                pending::<()>().await;
            }
            if waits {
                gate.notified().await;
            }
            Ok(answer(200))
        }
    });
    let dispatcher = world.dispatcher(receivers).with_limits(Limits {
        quick: NonZeroU32::new(4).unwrap(),
        drain: Duration::ZERO,
        ..patient()
    });
    let (trigger, watching) = shutdown();
    let watch = async {
        let gated = world.endpoint(GATED);
        let handed = world.event_for(gated, dispatcher.intake()).await;
        for _ in 0..3 {
            world.event(world.endpoint(HANGING)).await;
        }
        world.wake.notify_one();
        until(|| dispatcher.slots_in_use() == 4).await;
        let event = world.event(world.endpoint(HEALTHY)).await;
        // The loop rests: a wake-up has found no slot.
        world.wake.notify_one();
        tokio::time::sleep(Duration::from_millis(50)).await;
        gate.notify_one();
        let opened_at = Instant::now();
        until(|| world.delivery(event).status == DeliveryStatus::Delivered).await;
        let waited = opened_at.elapsed();
        assert!(waited < Duration::from_millis(10), "{waited:?}");
        assert_eq!(world.delivery(handed).status, DeliveryStatus::Delivered);
        trigger.request();
    };
    tokio::join!(dispatcher.run(watching), watch);
}

#[tokio::test]
async fn a_delivery_for_which_a_commit_found_no_slot_is_not_passed_by_a_later_one() {
    let world = World::new();
    let endpoint = world.endpoint(HEALTHY);
    let dispatcher = world.dispatcher(Receivers::answering(200));
    let intake = dispatcher.intake();
    let slots = 0..limits().quick.get();
    let taken: Vec<_> = slots
        .map(|number| world.endpoint(&format!("https://{number}.example.com/")))
        .map(|other| intake.reserve(other).unwrap())
        .collect();
    let first = world.event_for(endpoint, intake.clone()).await;
    drop(taken);
    assert!(intake.reserve(endpoint).is_none(), "the first one waits");
    assert_eq!(dispatcher.run_once().await.unwrap(), 1);
    assert_eq!(world.delivery(first).status, DeliveryStatus::Delivered);
    assert!(intake.reserve(endpoint).is_some(), "nothing waits");
}

/// Polls the outbox once a minute, unless it is woken.
fn patient() -> Limits {
    Limits {
        poll: Duration::from_mins(1),
        ..limits()
    }
}
