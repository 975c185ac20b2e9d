//! The loop: when to look at the outbox, how much to lease, and how to end.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use preauth_core::port::{Claim, Leased, Unavailable};
use preauth_core::value::Timestamp;
use tokio::task::{JoinError, JoinSet};

use crate::looping::{Shutdown, ShutdownTrigger, pause, shutdown};

use super::Dispatcher;
use super::limits::Share;
use super::slots::Slot;

/// Pause after each look at the outbox, so that a burst of wake-ups becomes one look.
const LOOK_SPACING: Duration = Duration::from_millis(2);
/// How often to look while something due is held back by an endpoint's bound: behind it something
/// of another endpoint may fall due.
const CROWDED_POLL: Duration = Duration::from_millis(100);
/// How long returning the leases may take at the end.
const RELEASE: Duration = Duration::from_secs(2);

/// Attempts under way, each on a task of its own.
struct UnderWay {
    tasks: JoinSet<()>,
    /// Given to every task; `abandon` ends it.
    abandoned: Shutdown,
    abandon: ShutdownTrigger,
}

/// What the loop does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    Claim,
    Rest(Rest),
    End,
}

/// How long nothing needs to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rest {
    pause: Duration,
    /// Whether the end of an attempt may let another one begin.
    is_crowded: bool,
}

impl Dispatcher {
    /// Leases what is due, up to the limits, attempts all of it and waits for the outcomes.
    ///
    /// Gives the number of attempts. Fails when the outbox cannot be read; that an outcome cannot
    /// be recorded is no failure here, since the lease takes care of it.
    pub async fn run_once(&self) -> Result<usize, Unavailable> {
        let leased = self.claim(self.courier.clock.now()).await?;
        let attempts = leased.len();
        let (_never, abandoned) = shutdown();
        let deliver = |(leased, slot)| self.courier.deliver(leased, slot, abandoned.clone());
        join_all(leased.into_iter().map(deliver)).await;
        Ok(attempts)
    }

    /// Delivers until the end is requested; then waits for attempts under way, but not long, and
    /// returns the leases of those that are still without an answer.
    pub async fn run(&self, mut shutdown: Shutdown) {
        let mut under_way = UnderWay::new();
        let mut turn = Turn::Claim;
        while turn != Turn::End && !shutdown.is_requested() {
            turn = match turn {
                Turn::Claim => self.look(&mut under_way, &mut shutdown).await,
                Turn::Rest(rest) => self.rest(rest, &mut under_way, &mut shutdown).await,
                Turn::End => Turn::End,
            };
        }
        under_way.end(self.limits.drain).await;
    }

    /// Begins what is due and there is room for, and finds out when there will be more.
    async fn look(&self, under_way: &mut UnderWay, shutdown: &mut Shutdown) -> Turn {
        let looked_at = self.courier.clock.now();
        let step = self.begin_due(under_way, looked_at).await;
        let Some(next_due) = self.health.observe(step) else {
            pause(self.limits.poll, shutdown).await;
            return Turn::Claim;
        };
        pause(LOOK_SPACING, shutdown).await;
        Turn::Rest(self.rest_until(next_due, looked_at))
    }

    async fn begin_due(
        &self,
        under_way: &mut UnderWay,
        now: Timestamp,
    ) -> Result<Option<Timestamp>, Unavailable> {
        for (leased, slot) in self.claim(now).await? {
            let courier = Arc::clone(&self.courier);
            let abandoned = under_way.abandoned.clone();
            under_way
                .tasks
                .spawn(async move { courier.deliver(leased, slot, abandoned).await });
        }
        self.courier.outbox.next_due().await
    }

    fn rest_until(&self, next_due: Option<Timestamp>, looked_at: Timestamp) -> Rest {
        // What was due already and yet not given out waits for an attempt to end.
        let is_crowded = next_due.is_some_and(|due| due <= looked_at);
        let pause = if is_crowded {
            CROWDED_POLL
        } else {
            let wait = next_due.map(|due| due.since(self.courier.clock.now()));
            wait.map_or(self.limits.poll, |wait| wait.to_std().unwrap_or_default())
        };
        Rest {
            pause: pause.min(self.limits.poll),
            is_crowded: is_crowded || self.share().is_none(),
        }
    }

    async fn rest(&self, rest: Rest, under_way: &mut UnderWay, shutdown: &mut Shutdown) -> Turn {
        let timer = tokio::time::sleep(rest.pause);
        tokio::pin!(timer);
        loop {
            tokio::select! {
                biased;
                () = shutdown.requested() => return Turn::End,
                Some(ended) = under_way.tasks.join_next() => {
                    note(ended);
                    under_way.collect();
                    if rest.is_crowded {
                        return Turn::Claim;
                    }
                }
                () = self.wake.notified() => return Turn::Claim,
                () = &mut timer => return Turn::Claim,
            }
        }
    }

    /// Leases what is due and there is room for, and gives each its slot.
    async fn claim(&self, now: Timestamp) -> Result<Vec<(Leased, Slot)>, Unavailable> {
        let slots = &self.courier.slots;
        let mut begun = Vec::new();
        while let Some(share) = self.share() {
            let claim = Claim {
                now,
                lease: self.limits.lease,
                limit: share.room.get(),
                slow_limit: self.limits.to_slow.saturating_sub(slots.in_slow_use()),
                per_endpoint: share.per_endpoint,
            };
            let leased = match self.courier.outbox.claim(&claim).await {
                Ok(leased) => leased,
                Err(unavailable) if begun.is_empty() => return Err(unavailable),
                // What is leased already is not left to its lease.
                Err(_) => break,
            };
            let room = usize::try_from(claim.limit).unwrap_or(usize::MAX);
            let is_all = leased.len() < room;
            begun.extend(leased.into_iter().map(|leased| {
                let slot = slots.take(leased.endpoint_is_slow);
                (leased, slot)
            }));
            if is_all {
                break;
            }
        }
        Ok(begun)
    }

    fn share(&self) -> Option<Share> {
        self.limits.share(self.courier.slots.in_use())
    }
}

impl UnderWay {
    fn new() -> Self {
        let (abandon, abandoned) = shutdown();
        Self {
            tasks: JoinSet::new(),
            abandoned,
            abandon,
        }
    }

    /// Removes every task that has ended.
    fn collect(&mut self) {
        while let Some(ended) = self.tasks.try_join_next() {
            note(ended);
        }
    }

    async fn end(mut self, patience: Duration) {
        if tokio::time::timeout(patience, self.all_ended())
            .await
            .is_ok()
        {
            return;
        }
        self.abandon.request();
        if tokio::time::timeout(RELEASE, self.all_ended())
            .await
            .is_err()
        {
            let left = self.tasks.len();
            tracing::warn!(target: "dispatcher", left, "attempts left to their leases");
        }
    }

    async fn all_ended(&mut self) {
        while let Some(ended) = self.tasks.join_next().await {
            note(ended);
        }
    }
}

/// A panic in one attempt ends that attempt only; its lease brings the delivery back.
fn note(ended: Result<(), JoinError>) {
    if let Err(error) = ended {
        let error = error.to_string();
        tracing::error!(target: "dispatcher", error, "attempt broke off");
    }
}
