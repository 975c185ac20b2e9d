//! What a delivery that its commit hands over costs beside its attempt: no claim, and no search for the
//! next due one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use preauth_core::memory::{DeliveryStatus, MemoryStore};
use preauth_core::port::{Attempt, Claim, Claimed, Leased, Outbox, Unavailable, Verdict};
use preauth_core::value::{EndpointId, EventId, Timestamp};
use tokio::time::{sleep, timeout};

use super::{Receivers, World, until};
use crate::dispatcher::{Dispatcher, Limits};
use crate::worker::shutdown;

const HEALTHY: &str = "https://healthy.example.com/";
const MANY: usize = 1_000;
/// As many as one endpoint is handed at once, by default.
const AT_ONCE: usize = 16;
/// Long enough for each poll that an event may have caused, and shorter than the pause between polls
/// that nothing caused.
const SETTLED: Duration = Duration::from_millis(300);

/// An outbox that counts what is asked of it.
struct Counting {
    store: Arc<MemoryStore>,
    claims: AtomicU32,
    next_due: AtomicU32,
}

#[async_trait]
impl Outbox for Counting {
    async fn claim(&self, claim: &Claim) -> Result<Claimed, Unavailable> {
        self.claims.fetch_add(1, Ordering::Relaxed);
        self.store.claim(claim).await
    }

    async fn finish(
        &self,
        leased: &Leased,
        attempt: &Attempt,
        verdict: Verdict,
    ) -> Result<bool, Unavailable> {
        self.store.finish(leased, attempt, verdict).await
    }

    async fn note_slow(&self, endpoints: &[EndpointId]) -> Result<(), Unavailable> {
        self.store.note_slow(endpoints).await
    }

    async fn release(&self, leased: &Leased) -> Result<(), Unavailable> {
        self.store.release(leased).await
    }

    async fn next_due(&self) -> Result<Option<Timestamp>, Unavailable> {
        self.next_due.fetch_add(1, Ordering::Relaxed);
        self.store.next_due().await
    }

    async fn bring_forward(&self, now: Timestamp, limit: u32) -> Result<u64, Unavailable> {
        self.store.bring_forward(now, limit).await
    }
}

struct Scene {
    world: World,
    outbox: Arc<Counting>,
    dispatcher: Dispatcher,
    endpoint: EndpointId,
}

impl Scene {
    fn new() -> Self {
        let world = World::new();
        let outbox = Arc::new(Counting {
            store: Arc::clone(&world.store),
            claims: AtomicU32::new(0),
            next_due: AtomicU32::new(0),
        });
        // Time passes only by timers: polls without a reason are far apart.
        let limits = Limits {
            poll: Duration::from_mins(10),
            ..Limits::default()
        };
        let counted = Arc::<Counting>::clone(&outbox);
        let dispatcher = world.dispatcher_over(counted, Receivers::answering(200));
        Self {
            endpoint: world.endpoint(HEALTHY),
            dispatcher: dispatcher.with_limits(limits),
            outbox,
            world,
        }
    }

    /// Commits an event. Like a store, it wakes the dispatcher only if the event's delivery is due.
    async fn event(&self) -> EventId {
        let intake = self.dispatcher.intake();
        let event = self.world.event_for(self.endpoint, intake).await;
        if self.world.store.next_due().await.unwrap().is_some() {
            self.world.wake.notify_one();
        }
        event
    }

    async fn delivered(&self, events: &[EventId]) {
        let is_delivered =
            |event: &EventId| self.world.delivery(*event).status == DeliveryStatus::Delivered;
        until(|| events.iter().all(is_delivered)).await;
    }

    /// The claims and the searches for the next due delivery so far.
    fn look_ups(&self) -> (u32, u32) {
        let Counting {
            claims, next_due, ..
        } = &*self.outbox;
        let read = |count: &AtomicU32| count.load(Ordering::Relaxed);
        (read(claims), read(next_due))
    }

    /// Runs the dispatcher beside `work`, and returns the look-ups that it adds to the first poll.
    async fn added(&self, work: impl Future<Output = ()>) -> (u32, u32) {
        let (trigger, until) = shutdown();
        let watch = async {
            sleep(SETTLED).await;
            let before = self.look_ups();
            assert_eq!(before, (1, 1), "the first poll, which finds nothing");
            work.await;
            sleep(SETTLED).await;
            let after = self.look_ups();
            trigger.request();
            (
                after.0.saturating_sub(before.0),
                after.1.saturating_sub(before.1),
            )
        };
        let ((), added) = tokio::join!(self.dispatcher.run(until), watch);
        added
    }
}

#[tokio::test(start_paused = true)]
async fn one_event_that_is_handed_over_adds_no_look_up() {
    let scene = Scene::new();
    let added = scene.added(async {
        let event = scene.event().await;
        scene.delivered(&[event]).await;
    });
    assert_eq!(added.await, (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_thousand_events_that_are_handed_over_add_no_look_up() {
    let scene = Scene::new();
    let added = scene.added(async {
        for _ in 0..MANY.div_ceil(AT_ONCE) {
            let mut events = Vec::new();
            for _ in 0..AT_ONCE {
                events.push(scene.event().await);
            }
            scene.delivered(&events).await;
        }
    });
    assert_eq!(added.await, (0, 0));
}

/// Only the first of them find room; each of the others wakes the dispatcher.
#[tokio::test(start_paused = true)]
async fn a_thousand_events_at_once_share_their_look_ups() {
    let scene = Scene::new();
    let added = scene.added(async {
        let mut events = Vec::new();
        for _ in 0..MANY {
            events.push(scene.event().await);
        }
        let delivered = timeout(Duration::from_secs(30), scene.delivered(&events));
        delivered.await.expect("all are delivered");
    });
    let (claims, next_due) = added.await;
    assert!((1..=60).contains(&claims), "{claims}");
    assert!(next_due <= 20, "{next_due}");
}
