//! Many endpoints hang at the same time; time moves only by the dispatcher's own timers.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use chrono::TimeDelta;
use preauth_core::delivery::SLOW_ATTEMPT;
use preauth_core::memory::DeliveryStatus;
use preauth_core::value::{EndpointId, EventId};
use tokio::time::Instant;

use super::{Receivers, World, answer, until};
use crate::dispatcher::{Dispatcher, Limits};
use crate::worker::shutdown;

const HANGING: &str = "https://hanging.example.com/";
const HEALTHY: &str = "https://healthy.example.com/";
const EVENTS_EACH: usize = 3;
/// A few polls of the outbox.
const MAX_PROMPT_DELAY: Duration = Duration::from_millis(250);

/// Requests to hanging receivers: the current number and the maximum.
#[derive(Default)]
struct Hanging {
    now: AtomicU32,
    most: AtomicU32,
}

/// One request that hangs; dropped with it.
struct Hang(Arc<Hanging>);

impl Hanging {
    fn begin(self: &Arc<Self>) -> Hang {
        let now = self.now.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        self.most.fetch_max(now, Ordering::Relaxed);
        Hang(Arc::clone(self))
    }
}

impl Drop for Hang {
    fn drop(&mut self) {
        self.0.now.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A number of endpoints that hang, each with a queue, and one that answers.
struct Crowd {
    world: World,
    healthy: EndpointId,
    hanging: Arc<Hanging>,
    /// The milliseconds that an answer takes.
    answer_ms: Arc<AtomicU64>,
    dispatcher: Dispatcher,
}

impl Crowd {
    async fn of(endpoints: usize) -> Self {
        let world = World::new();
        for _ in 0..endpoints {
            let endpoint = world.endpoint(HANGING);
            for _ in 0..EVENTS_EACH {
                world.event(endpoint).await;
            }
        }
        let hanging = Arc::new(Hanging::default());
        let answer_ms = Arc::<AtomicU64>::default();
        let (counted, takes_ms) = (Arc::clone(&hanging), Arc::clone(&answer_ms));
        let receivers = Receivers::reacting(move |request| {
            let hang = (request.url == HANGING).then(|| counted.begin());
            let takes = Duration::from_millis(takes_ms.load(Ordering::Relaxed));
            async move {
                if hang.is_some() {
                    pending::<()>().await;
                }
                if !takes.is_zero() {
                    tokio::time::sleep(takes).await;
                }
                Ok(answer(200))
            }
        });
        let limits = Limits {
            drain: Duration::ZERO,
            ..Limits::default()
        };
        Self {
            healthy: world.endpoint(HEALTHY),
            dispatcher: world.dispatcher(receivers).with_limits(limits),
            hanging,
            answer_ms,
            world,
        }
    }

    /// The time until events to the healthy endpoint, recorded now, have all arrived.
    async fn healthy_waits(&self) -> Duration {
        let mut events = Vec::new();
        for _ in 0..EVENTS_EACH {
            events.push(self.world.event(self.healthy).await);
        }
        let recorded = Instant::now();
        self.world.wake.notify_one();
        let has_arrived =
            |event: &EventId| self.world.delivery(*event).status == DeliveryStatus::Delivered;
        until(|| events.iter().all(has_arrived)).await;
        recorded.elapsed()
    }
}

#[tokio::test(start_paused = true)]
async fn many_endpoints_that_begin_to_hang_at_once_delay_nobody() {
    let crowd = Crowd::of(512).await;
    let (trigger, watching) = shutdown();
    let watch = async {
        let at_once = crowd.healthy_waits().await;
        assert!(at_once < MAX_PROMPT_DELAY, "{at_once:?}");
        let most = crowd.hanging.most.load(Ordering::Relaxed);
        assert!(most <= 576, "a quarter stays free: {most}");
        // All hanging attempts are in progress.
        tokio::time::sleep(Duration::from_secs(5)).await;
        let hanging = crowd.hanging.now.load(Ordering::Relaxed);
        assert!(hanging >= 512, "each is attempted: {hanging}");
        let later = crowd.healthy_waits().await;
        assert!(later < MAX_PROMPT_DELAY, "{later:?}");
        trigger.request();
    };
    tokio::join!(crowd.dispatcher.run(watching), watch);
}

#[tokio::test(start_paused = true)]
async fn commits_hand_over_to_who_answers_while_many_others_hang() {
    let crowd = Crowd::of(512).await;
    let stuck = crowd.world.endpoint(HANGING);
    let slots = &crowd.dispatcher.courier.slots;
    let limits = crowd.dispatcher.limits;
    let (trigger, watching) = shutdown();
    let watch = async {
        until(|| slots.in_use() > limits.quick.get() / 2).await;
        let intake = crowd.dispatcher.intake();
        assert!(intake.reserve(stuck).is_some(), "nothing is known of it");
        crowd.world.event_for(stuck, intake.clone()).await;
        tokio::time::sleep(limits.stuck_after * 2).await;
        assert!(intake.reserve(stuck).is_none(), "its attempt has not ended");
        for _ in 0..EVENTS_EACH {
            assert!(intake.reserve(crowd.healthy).is_some());
            let event = crowd.world.event_for(crowd.healthy, intake.clone()).await;
            until(|| crowd.world.delivery(event).status == DeliveryStatus::Delivered).await;
        }
        trigger.request();
    };
    tokio::join!(crowd.dispatcher.run(watching), watch);
}

/// Also when all answers are late for a moment, as on a machine that is busy beginning attempts.
#[tokio::test(start_paused = true)]
async fn a_busy_endpoint_keeps_its_pace_while_many_others_begin_to_hang() {
    const EVENTS: usize = 50;
    const EVERY: Duration = Duration::from_millis(10);
    let crowd = Crowd::of(512).await;
    crowd.answer_ms.store(300, Ordering::Relaxed);
    let (trigger, watching) = shutdown();
    let watch = async {
        let slots = &crowd.dispatcher.courier.slots;
        until(|| slots.in_use() >= 576).await;
        let (begun, mut events) = (Instant::now(), Vec::new());
        for number in 0..EVENTS {
            if number == EVENTS / 2 {
                crowd.answer_ms.store(50, Ordering::Relaxed);
            }
            let intake = crowd.dispatcher.intake();
            events.push(crowd.world.event_for(crowd.healthy, intake).await);
            crowd.world.wake.notify_one();
            tokio::time::sleep(EVERY).await;
        }
        let has_arrived =
            |event: &EventId| crowd.world.delivery(*event).status == DeliveryStatus::Delivered;
        until(|| events.iter().all(has_arrived)).await;
        let took = begun.elapsed();
        assert!(took < Duration::from_millis(800), "{took:?}");
        trigger.request();
    };
    tokio::join!(crowd.dispatcher.run(watching), watch);
}

#[tokio::test(start_paused = true)]
async fn endpoints_that_take_all_slots_at_once_delay_others_until_they_are_slow() {
    let crowd = Crowd::of(1_200).await;
    let limits = crowd.dispatcher.limits;
    let (trigger, watching) = shutdown();
    let watch = async {
        until(|| crowd.dispatcher.slots_in_use() >= limits.quick.get()).await;
        let waits = crowd.healthy_waits().await;
        let slow = SLOW_ATTEMPT.to_std().unwrap();
        assert!(waits < slow + MAX_PROMPT_DELAY, "{waits:?}");
        trigger.request();
    };
    tokio::join!(crowd.dispatcher.run(watching), watch);
    let most = crowd.hanging.most.load(Ordering::Relaxed);
    assert!(most <= crowd.dispatcher.slots(), "{most}");
}

#[tokio::test(start_paused = true)]
async fn endpoints_that_are_known_to_hang_share_a_part() {
    let crowd = Crowd::of(400).await;
    let (trigger, watching) = shutdown();
    let watch = async {
        // By then every endpoint was attempted.
        tokio::time::sleep(Duration::from_mins(1)).await;
        let slow_part = crowd.dispatcher.limits.to_slow;
        crowd.hanging.most.store(0, Ordering::Relaxed);
        for _ in 0..5 {
            crowd.world.clock.advance(TimeDelta::hours(6));
            let waits = crowd.healthy_waits().await;
            assert!(waits < Duration::from_secs(1), "{waits:?}");
            // Not at the moment when the attempts are given up, which is after twelve seconds.
            tokio::time::sleep(Duration::from_secs(7)).await;
            let hanging = crowd.hanging.now.load(Ordering::Relaxed);
            assert!(hanging > slow_part / 2, "they go on being tried: {hanging}");
        }
        trigger.request();
    };
    tokio::join!(crowd.dispatcher.run(watching), watch);
    let most = crowd.hanging.most.load(Ordering::Relaxed);
    assert_eq!(most, crowd.dispatcher.limits.to_slow);
}

#[tokio::test(start_paused = true)]
async fn an_attempt_counts_as_slow_once_it_is() {
    let crowd = Crowd::of(3).await;
    let (trigger, watching) = shutdown();
    let slots = &crowd.dispatcher.courier.slots;
    let watch = async {
        until(|| slots.in_use() == 9).await;
        assert_eq!(slots.in_slow_use(), 0);
        tokio::time::sleep(SLOW_ATTEMPT.to_std().unwrap()).await;
        until(|| slots.in_slow_use() == 9).await;
        trigger.request();
    };
    tokio::join!(crowd.dispatcher.run(watching), watch);
    assert_eq!((slots.in_use(), slots.in_slow_use()), (0, 0));
}
