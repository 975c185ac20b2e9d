//! A database that is unavailable or slow for a while.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use preauth_core::memory::{DeliveryStatus, MemoryStore};
use preauth_core::port::{Attempt, Claim, Claimed, Leased, Outbox, Unavailable, Verdict};
use preauth_core::value::{EndpointId, Timestamp};
use tokio::time::sleep;

use super::{Receivers, World, eventually, until};
use crate::worker::shutdown;

/// An outbox whose next calls fail, or whose claims take so long.
struct Flaky {
    store: Arc<MemoryStore>,
    failing_claims: AtomicU32,
    failing_finishes: AtomicU32,
    slow_claims: AtomicU32,
    delay: Duration,
}

impl Flaky {
    fn over(world: &World, failing_claims: u32, failing_finishes: u32) -> Arc<Self> {
        Arc::new(Self {
            store: world.store.clone(),
            failing_claims: failing_claims.into(),
            failing_finishes: failing_finishes.into(),
            slow_claims: AtomicU32::new(0),
            delay: Duration::ZERO,
        })
    }

    /// Whose next claim is answered this long after it has leased.
    fn answering_late(world: &World, delay: Duration) -> Arc<Self> {
        Arc::new(Self {
            store: world.store.clone(),
            failing_claims: AtomicU32::new(0),
            failing_finishes: AtomicU32::new(0),
            slow_claims: AtomicU32::new(1),
            delay,
        })
    }
}

fn fail(left: &AtomicU32) -> Result<(), Unavailable> {
    let one_less = |left: u32| left.checked_sub(1);
    match left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less) {
        Ok(_) => Err(Unavailable {
            cause: "no route".into(),
        }),
        Err(_) => Ok(()),
    }
}

#[async_trait]
impl Outbox for Flaky {
    async fn claim(&self, claim: &Claim) -> Result<Claimed, Unavailable> {
        fail(&self.failing_claims)?;
        let claimed = self.store.claim(claim).await;
        if fail(&self.slow_claims).is_err() {
            sleep(self.delay).await;
        }
        claimed
    }

    async fn finish(
        &self,
        leased: &Leased,
        attempt: &Attempt,
        verdict: Verdict,
    ) -> Result<bool, Unavailable> {
        fail(&self.failing_finishes)?;
        self.store.finish(leased, attempt, verdict).await
    }

    async fn note_slow(&self, endpoints: &[EndpointId]) -> Result<(), Unavailable> {
        self.store.note_slow(endpoints).await
    }

    async fn release(&self, leased: &Leased) -> Result<(), Unavailable> {
        self.store.release(leased).await
    }

    async fn next_due(&self) -> Result<Option<Timestamp>, Unavailable> {
        self.store.next_due().await
    }

    async fn bring_forward(&self, now: Timestamp, limit: u32) -> Result<u64, Unavailable> {
        self.store.bring_forward(now, limit).await
    }
}

#[tokio::test]
async fn the_loop_goes_on_when_the_database_is_back() {
    let world = World::new();
    let event = world
        .event(world.endpoint("https://hooks.example.com/"))
        .await;
    let outbox = Flaky::over(&world, 3, 0);
    let dispatcher = world.dispatcher_over(outbox, Receivers::answering(200));
    let (trigger, watching) = shutdown();
    let watch = async {
        until(|| world.delivery(event).status == DeliveryStatus::Delivered).await;
        trigger.request();
    };
    eventually(async { tokio::join!(dispatcher.run(watching), watch) }).await;
}

#[tokio::test]
async fn a_single_step_reports_an_unavailable_database() {
    let world = World::new();
    let outbox = Flaky::over(&world, 1, 0);
    let dispatcher = world.dispatcher_over(outbox, Receivers::answering(200));
    assert!(dispatcher.run_once().await.is_err());
    assert_eq!(dispatcher.run_once().await.unwrap(), 0);
}

#[tokio::test]
async fn an_outcome_that_cannot_be_recorded_at_once_is_recorded_a_little_later() {
    let world = World::new();
    let event = world
        .event(world.endpoint("https://hooks.example.com/"))
        .await;
    let outbox = Flaky::over(&world, 0, 1);
    let receivers = Receivers::answering(200);
    let dispatcher = world.dispatcher_over(outbox, receivers.clone());
    eventually(dispatcher.run_once()).await.unwrap();
    assert_eq!(world.delivery(event).status, DeliveryStatus::Delivered);
    assert_eq!(receivers.sent().len(), 1, "sent once");
}

/// The attempt may take 12 s, and the lease is of 30.
#[tokio::test(start_paused = true)]
async fn leases_are_given_back_that_may_end_before_their_attempts_do() {
    for (seconds, begun) in [(17, 1), (19, 0)] {
        let world = World::new();
        let event = world
            .event(world.endpoint("https://hooks.example.com/"))
            .await;
        let outbox = Flaky::answering_late(&world, Duration::from_secs(seconds));
        let receivers = Receivers::answering(200);
        let dispatcher = world.dispatcher_over(outbox, receivers.clone());
        dispatcher.run_once().await.unwrap();
        assert_eq!(receivers.sent().len(), begun, "{seconds} s");
        dispatcher.run_once().await.unwrap();
        assert_eq!(world.delivery(event).status, DeliveryStatus::Delivered);
        assert_eq!(receivers.sent().len(), 1, "sent once");
    }
}
