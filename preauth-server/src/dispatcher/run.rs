//! The loop: when to poll the outbox, how much to lease, and how to stop.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use preauth_core::port::{Claim, Claimed, Leased, Unavailable};
use preauth_core::value::Timestamp;
use tokio::task::{JoinError, JoinSet};
use tokio::time::Instant;

use crate::worker::{HELD_REST, Shutdown, ShutdownTrigger, pause, shutdown};

use super::Dispatcher;
use super::attempt::Courier;
use super::limits::Share;
use super::slots::Slot;

/// Pause after each poll of the outbox, so that a burst of wake-ups becomes one poll.
const LOOK_SPACING: Duration = Duration::from_millis(2);
/// Maximum number of attempts that begin at the same moment, and the pause between two such rounds: what
/// is in progress goes on in between.
const MAX_PER_ROUND: u32 = 96;
const ROUND_SPACING: Duration = Duration::from_millis(5);
/// Maximum number of rounds of one poll: together as many attempts as one process has slots. With slots
/// that are freed meanwhile it would go on as long as any endpoint has a backlog, and see nothing newer.
const MAX_ROUNDS: u32 = 8;
/// Pause before slow endpoints are recorded: those that hang at once turn slow at once.
const TURN_SPACING: Duration = Duration::from_millis(20);
/// Delay from a poll that found deliveries to the next poll, which finds what else is due. Also the
/// interval of polls while an endpoint's limit holds deliveries back: others may become due after them.
const NEXT_LOOK: Duration = Duration::from_millis(100);
/// Maximum duration of returning the leases at shutdown.
const RELEASE: Duration = Duration::from_secs(2);

/// The attempts in progress, each on a task of its own.
struct UnderWay {
    tasks: JoinSet<()>,
    /// The limit per endpoint when it held deliveries back: a larger limit may let more begin.
    cut_at: Option<NonZeroU32>,
    /// Passed to every task; `abandon` triggers it.
    abandoned: Shutdown,
    abandon: ShutdownTrigger,
}

/// Leased deliveries with their slots.
struct Round {
    begun: Vec<(Leased, Slot)>,
    /// Whether there may be more.
    is_cut: bool,
}

/// The next step of the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    Claim,
    Rest(Rest),
    End,
}

/// How long the loop may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rest {
    pause: Duration,
    /// Whether there were too few slots; the end of an attempt frees one.
    was_full: bool,
}

impl Dispatcher {
    /// Leases what is due, up to the limits, attempts all of it and waits for the outcomes.
    ///
    /// Returns the number of attempts. Fails when the outbox cannot be read. An outcome that cannot
    /// be recorded is not a failure here: the delivery is attempted again when its lease expires.
    pub async fn run_once(&self) -> Result<usize, Unavailable> {
        let (now, mut leased) = (self.courier.clock.now(), Vec::new());
        loop {
            match self.claim(now, &mut None).await {
                Ok(round) => {
                    leased.extend(round.begun);
                    if !round.is_cut {
                        break;
                    }
                }
                Err(unavailable) if leased.is_empty() => return Err(unavailable),
                // Attempt what is already leased; do not wait for the leases to expire.
                Err(_) => break,
            }
        }
        let attempts = leased.len();
        let (_never, abandoned) = shutdown();
        let deliver = |(leased, slot)| self.courier.deliver(leased, slot, abandoned.clone());
        join_all(leased.into_iter().map(deliver)).await;
        Ok(attempts)
    }

    /// Delivers until shutdown is requested; then waits a bounded time for attempts in progress,
    /// and returns the leases of those without an answer.
    pub async fn run(&self, shutdown: Shutdown) {
        tokio::join!(
            self.attempt_handed(shutdown.clone()),
            self.attempt_due(shutdown)
        );
    }

    /// Attempts the deliveries that commits hand over. It waits for nothing else, so a slow claim does
    /// not delay them.
    async fn attempt_handed(&self, mut shutdown: Shutdown) {
        let Some(mut handed) = self.inbox() else {
            return;
        };
        let mut under_way = UnderWay::new();
        loop {
            tokio::select! {
                biased;
                () = shutdown.requested() => break,
                Some(ended) = under_way.tasks.join_next() => under_way.collect(ended),
                Some((leased, slot)) = handed.recv() => {
                    under_way.begin(&self.courier, leased, slot);
                }
            }
        }
        handed.close();
        let mut releases = Vec::new();
        while let Some((leased, _slot)) = handed.recv().await {
            releases.push(async move { self.courier.release(&leased).await });
        }
        tokio::join!(join_all(releases), under_way.end(self.limits.drain));
    }

    async fn attempt_due(&self, mut shutdown: Shutdown) {
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

    /// Begins the due attempts for which there is room, and determines when to poll again.
    async fn look(&self, under_way: &mut UnderWay, shutdown: &mut Shutdown) -> Turn {
        if self.hold.is_held() {
            self.health.note(true);
            return Turn::Rest(Rest {
                pause: HELD_REST,
                was_full: false,
            });
        }
        let looked_at = self.courier.clock.now();
        let was_full = self.is_full();
        let began = Instant::now();
        let step = self.begin_due(under_way, looked_at, shutdown).await;
        let Some(next_due) = self.health.observe(step) else {
            pause(self.limits.poll, shutdown).await;
            return Turn::Claim;
        };
        let was_full = was_full || self.is_full();
        // A poll that takes long leaves as much time to everything else.
        pause(LOOK_SPACING.max(began.elapsed().min(NEXT_LOOK)), shutdown).await;
        Turn::Rest(Rest {
            pause: self.pause_until(next_due, looked_at),
            was_full,
        })
    }

    /// Begins due attempts, and returns when the next delivery is due. Leased deliveries do not show
    /// whether there are more; only a poll that finds nothing queries the next due time.
    async fn begin_due(
        &self,
        under_way: &mut UnderWay,
        now: Timestamp,
        shutdown: &mut Shutdown,
    ) -> Result<Option<Timestamp>, Unavailable> {
        self.note_slow().await?;
        let mut round = self.claim(now, &mut under_way.cut_at).await?;
        if round.begun.is_empty() {
            return self.courier.outbox.next_due().await;
        }
        for _ in 1..MAX_ROUNDS {
            under_way.begin_all(&self.courier, round.begun);
            if !round.is_cut {
                return Ok(Some(now));
            }
            pause(ROUND_SPACING, shutdown).await;
            if shutdown.is_requested() || self.hold.is_held() {
                return Ok(Some(now));
            }
            round = match self.claim(now, &mut under_way.cut_at).await {
                Ok(round) => round,
                // The next poll reports it.
                Err(_) => return Ok(Some(now)),
            };
        }
        under_way.begin_all(&self.courier, round.begun);
        Ok(Some(now))
    }

    /// Records the endpoints whose attempts turned slow: from now on they get only the shared slots of slow
    /// endpoints, also in other instances.
    async fn note_slow(&self) -> Result<(), Unavailable> {
        let turned = self.courier.slots.take_turned();
        if turned.is_empty() {
            return Ok(());
        }
        let noted = self.courier.outbox.note_slow(&turned).await;
        if noted.is_err() {
            self.courier.slots.put_back(turned);
        }
        noted
    }

    fn pause_until(&self, next_due: Option<Timestamp>, looked_at: Timestamp) -> Duration {
        // A due delivery that was not leased waits for an attempt to end.
        let pause = if next_due.is_some_and(|due| due <= looked_at) {
            NEXT_LOOK
        } else {
            let wait = next_due.map(|due| due.since(self.courier.clock.now()));
            wait.map_or(self.limits.poll, |wait| wait.to_std().unwrap_or_default())
        };
        pause.min(self.limits.poll)
    }

    async fn rest(&self, rest: Rest, under_way: &mut UnderWay, shutdown: &mut Shutdown) -> Turn {
        let timer = tokio::time::sleep(rest.pause);
        tokio::pin!(timer);
        loop {
            tokio::select! {
                biased;
                () = shutdown.requested() => return Turn::End,
                Some(ended) = under_way.tasks.join_next() => under_way.collect(ended),
                // The end of one of these tasks, or of an attempt that a commit handed over.
                () = self.courier.slots.ended() => {
                    let is_wide_again = self.is_wider_than(under_way.cut_at);
                    if is_wide_again || (rest.was_full && !self.is_full()) {
                        return Turn::Claim;
                    }
                }
                () = self.wake.notified() => return Turn::Claim,
                () = self.courier.slots.turned() => {
                    pause(TURN_SPACING, shutdown).await;
                    return Turn::Claim;
                }
                () = &mut timer => return Turn::Claim,
            }
        }
    }

    /// Whether there is no slot left, or none for a slow endpoint.
    fn is_full(&self) -> bool {
        self.share().is_none() || self.courier.slots.in_slow_use() >= self.limits.to_slow
    }

    /// Whether the limit per endpoint is larger than when it held deliveries back.
    fn is_wider_than(&self, cut_at: Option<NonZeroU32>) -> bool {
        let part = self.share().map(|share| share.per_endpoint);
        cut_at.is_some_and(|cut_at| part.is_some_and(|part| part >= cut_at))
    }

    /// Leases due deliveries for which there is room, and takes a slot for each. Sets `cut_at` when an
    /// endpoint's limit held deliveries back.
    async fn claim(
        &self,
        now: Timestamp,
        cut_at: &mut Option<NonZeroU32>,
    ) -> Result<Round, Unavailable> {
        let slots = &self.courier.slots;
        let Some(share) = self.share() else {
            return Ok(Round {
                begun: Vec::new(),
                is_cut: false,
            });
        };
        let claim = Claim {
            now,
            lease: self.limits.lease,
            limit: share.room.get().min(MAX_PER_ROUND),
            slow_limit: share.slow_room,
            per_endpoint: share.per_endpoint,
            per_slow_endpoint: share.per_slow_endpoint,
            answering: if share.per_endpoint < share.per_answering_endpoint {
                slots.answering()
            } else {
                Vec::new()
            },
            per_answering_endpoint: share.per_answering_endpoint,
        };
        let since = Instant::now();
        let Claimed { leased, full } = self.courier.outbox.claim(&claim).await?;
        if !self.courier.has_time(claim.lease, since) {
            join_all(leased.iter().map(|it| self.courier.release(it))).await;
            return Ok(Round {
                begun: Vec::new(),
                is_cut: false,
            });
        }
        let is_cut = reaches(leased.len(), claim.limit);
        let to_slow = leased.iter().filter(|it| it.endpoint_is_slow).count();
        let slow_is_cut = share.slow_room > 0 && reaches(to_slow, share.slow_room);
        let begun = leased.into_iter().map(|leased| {
            let slot = slots.take(leased.endpoint, leased.endpoint_is_slow);
            (leased, slot)
        });
        let begun = begun.collect();
        slots.note_backlogs(full, is_cut);
        *cut_at = if is_cut {
            (*cut_at).max(Some(share.per_endpoint))
        } else {
            cut_at.filter(|cut_at| *cut_at > share.per_endpoint)
        };
        Ok(Round {
            begun,
            is_cut: is_cut || slow_is_cut,
        })
    }

    fn share(&self) -> Option<Share> {
        let slots = &self.courier.slots;
        self.limits.share(slots.in_use(), slots.in_slow_use())
    }
}

impl UnderWay {
    fn new() -> Self {
        let (abandon, abandoned) = shutdown();
        Self {
            tasks: JoinSet::new(),
            cut_at: None,
            abandoned,
            abandon,
        }
    }

    fn begin(&mut self, courier: &Arc<Courier>, leased: Leased, slot: Slot) {
        let (courier, abandoned) = (Arc::clone(courier), self.abandoned.clone());
        self.tasks
            .spawn(async move { courier.deliver(leased, slot, abandoned).await });
    }

    fn begin_all(&mut self, courier: &Arc<Courier>, leased: Vec<(Leased, Slot)>) {
        for (leased, slot) in leased {
            self.begin(courier, leased, slot);
        }
        self.collect_ended();
    }

    /// Collects this and every other task that has ended.
    fn collect(&mut self, ended: Result<(), JoinError>) {
        note(ended);
        self.collect_ended();
    }

    fn collect_ended(&mut self) {
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

fn reaches(count: usize, limit: u32) -> bool {
    u32::try_from(count).is_ok_and(|count| count >= limit)
}

/// A panic ends only its own attempt; the delivery is attempted again when its lease expires.
fn note(ended: Result<(), JoinError>) {
    if let Err(error) = ended {
        let error = error.to_string();
        tracing::error!(target: "dispatcher", error, "attempt broke off");
    }
}
