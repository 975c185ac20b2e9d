//! Receivers that answer after a tenth of a second, or more than one: free slots are used, and shared
//! fairly.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use preauth_core::memory::DeliveryStatus;
use preauth_core::value::{EndpointId, EventId};
use tokio::time::{Instant, sleep};

use super::{Receivers, World, answer, until};
use crate::dispatcher::{Dispatcher, Limits};
use crate::worker::shutdown;

const ROUND_TRIP: Duration = Duration::from_millis(100);

struct Far {
    world: World,
    dispatcher: Dispatcher,
    answered: Arc<AtomicUsize>,
}

impl Far {
    fn new() -> Self {
        Self::answering_after(ROUND_TRIP)
    }

    fn answering_after(delay: Duration) -> Self {
        let (world, answered) = (World::new(), Arc::<AtomicUsize>::default());
        let counted = Arc::clone(&answered);
        let receivers = Receivers::reacting(move |_| {
            let counted = Arc::clone(&counted);
            async move {
                sleep(delay).await;
                counted.fetch_add(1, Ordering::Relaxed);
                Ok(answer(200))
            }
        });
        let dispatcher = world.dispatcher(receivers).with_limits(Limits::default());
        Self {
            world,
            dispatcher,
            answered,
        }
    }

    async fn endpoint_with(&self, events: usize) -> EndpointId {
        let endpoint = self.world.endpoint("https://far.example.com/");
        for _ in 0..events {
            self.world.event(endpoint).await;
        }
        endpoint
    }

    /// The time until `events` events were answered.
    async fn deliver(&self, events: usize) -> Duration {
        let (trigger, watching) = shutdown();
        let begun = Instant::now();
        let watch = async {
            until(|| self.answered.load(Ordering::Relaxed) >= events).await;
            trigger.request();
            begun.elapsed()
        };
        let ((), elapsed) = tokio::join!(self.dispatcher.run(watching), watch);
        elapsed
    }
}

#[tokio::test(start_paused = true)]
async fn one_endpoint_gets_the_slots_that_nobody_else_needs() {
    let far = Far::new();
    far.endpoint_with(1280).await;
    // Twenty rounds of 64; with eight at a time it would be 160.
    let elapsed = far.deliver(1280).await;
    assert!(elapsed < ROUND_TRIP * 30, "{elapsed:?}");
}

#[tokio::test(start_paused = true)]
async fn a_slow_endpoint_gets_the_slots_that_no_other_slow_one_needs() {
    const DELAY: Duration = Duration::from_millis(1_100);
    let far = Far::answering_after(DELAY);
    far.endpoint_with(384).await;
    // Six rounds of 64; with eight at a time it would be 48.
    let elapsed = far.deliver(384).await;
    assert!(elapsed < DELAY * 8, "{elapsed:?}");
}

#[tokio::test(start_paused = true)]
async fn busy_endpoints_share_the_slots_that_nobody_else_needs() {
    let far = Far::new();
    for _ in 0..4 {
        far.endpoint_with(320).await;
    }
    // Ten rounds of 128; with eight each it would be forty.
    let elapsed = far.deliver(1280).await;
    assert!(elapsed < ROUND_TRIP * 20, "{elapsed:?}");
}

#[tokio::test(start_paused = true)]
async fn endpoints_with_all_slots_that_they_may_have_delay_no_other() {
    let far = Far::new();
    for _ in 0..4 {
        far.endpoint_with(2_000).await;
    }
    let quiet = far.endpoint_with(0).await;
    let (trigger, watching) = shutdown();
    let watch = async {
        for _ in 0..5 {
            sleep(Duration::from_millis(330)).await;
            let event: EventId = far.world.event(quiet).await;
            let recorded = Instant::now();
            far.world.wake.notify_one();
            until(|| far.world.delivery(event).status == DeliveryStatus::Delivered).await;
            let waits = recorded.elapsed();
            assert!(waits < ROUND_TRIP * 3 / 2, "{waits:?}");
        }
        trigger.request();
    };
    tokio::join!(far.dispatcher.run(watching), watch);
}
