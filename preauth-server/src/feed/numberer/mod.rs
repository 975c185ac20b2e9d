//! Has events numbered, and wakes the requests that wait for them.
//!
//! One look serves all: a request that needs the latest events waits for a look that began after it came,
//! and those who wait for the next event are woken by the looks of this loop. So the number of looks depends
//! on the number of instances, not on that of readers. A look that failed serves them as well: they get its error,
//! and do not have a database that hangs looked at one after the other.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use chrono::TimeDelta;
use preauth_core::port::Unavailable;
use tokio::sync::{Mutex, Notify, OwnedMutexGuard};

use crate::clock::Clock;
use crate::fair::in_time;
use crate::hold::Hold;
use crate::log::chain;
use crate::worker::{LoopHealth, Next, Shutdown, pause, repeat};

use super::{EventNumbers, Look, Numbered, Waiters};

/// Interval of looks at what other instances committed, while requests wait.
const REST: Duration = Duration::from_millis(250);
/// The same while nobody waits: events are numbered in larger batches then.
const REST_WITHOUT_WAITERS: Duration = Duration::from_secs(1);
/// Pause after a look that found something, so that a busy moment is few batches.
const PAUSE: Duration = Duration::from_millis(50);
/// A look is a statement or two, which the database gives up after 12 s each.
const STALLS_AFTER: TimeDelta = TimeDelta::minutes(2);

/// Numbers events; any number of instances may run concurrently.
pub struct Numberer {
    numbers: Arc<dyn EventNumbers>,
    clock: Arc<dyn Clock>,
    retention: TimeDelta,
    waiters: Waiters,
    hold: Hold,
    health: Arc<LoopHealth>,
    /// Looks that have begun.
    begun: AtomicU64,
    latest: Arc<Mutex<Latest>>,
}

/// The latest looks that ended.
#[derive(Debug, Default)]
struct Latest {
    /// The place among all looks of the last one that succeeded.
    look: u64,
    /// Up to where it reported.
    upto: Option<i64>,
    failed: Option<FailedLook>,
}

/// The last look that failed.
#[derive(Debug)]
struct FailedLook {
    /// Its place among all looks.
    look: u64,
    /// Its error with all causes; errors cannot be copied.
    error: String,
}

impl Latest {
    /// What a request learns that came when so many looks had begun; `None` if it needs a look of its own.
    fn since(&self, arrived: u64) -> Option<Result<(), Unavailable>> {
        if self.look > arrived {
            return Some(Ok(()));
        }
        let failed = self.failed.as_ref().filter(|it| it.look > arrived)?;
        Some(Err(Unavailable {
            cause: failed.error.clone().into(),
        }))
    }
}

impl Numberer {
    /// A numberer of a store's events, which keeps their numbers for so long, and wakes `waiters`.
    #[must_use]
    pub fn new(
        numbers: Arc<dyn EventNumbers>,
        clock: Arc<dyn Clock>,
        retention: TimeDelta,
        waiters: Waiters,
    ) -> Self {
        Self {
            numbers,
            clock,
            retention,
            waiters,
            hold: Hold::default(),
            health: Arc::new(LoopHealth::new("numberer", STALLS_AFTER)),
            begun: AtomicU64::new(0),
            latest: Arc::default(),
        }
    }

    /// The same numberer, which pauses while the instance is held.
    #[must_use]
    pub fn held_by(self, hold: Hold) -> Self {
        Self { hold, ..self }
    }

    /// The requests that wait.
    #[must_use]
    pub const fn waiters(&self) -> &Waiters {
        &self.waiters
    }

    /// Runs until shutdown is requested.
    pub async fn run(self: Arc<Self>, shutdown: Shutdown) {
        let wake = Notify::new();
        let until = shutdown.clone();
        let step = || self.step(until.clone());
        repeat(&self.health, &self.hold, REST, &wake, shutdown, step).await;
    }

    /// Events that were committed before this call have their numbers when it returns, except while more wait for numbers
    /// than one look takes: then the loop goes on with the rest. A held instance, which writes nothing, returns at once. A request waits for the look of another no longer than in any queue.
    pub async fn catch_up(&self) -> Result<(), Unavailable> {
        if self.hold.is_held() {
            return Ok(());
        }
        let arrived = self.begun.load(Ordering::SeqCst);
        let turn = in_time(Arc::clone(&self.latest).lock_owned()).await;
        let latest = turn.map_err(|late| Unavailable {
            cause: Box::new(late),
        })?;
        match latest.since(arrived) {
            Some(outcome) => outcome,
            None => self.look(latest).await.map(drop),
        }
    }

    /// A look, then a rest until there is a reason for the next one.
    async fn step(&self, mut shutdown: Shutdown) -> Result<Next, Unavailable> {
        let latest = Arc::clone(&self.latest).lock_owned().await;
        let numbered = self.look(latest).await?;
        if numbered.has_more {
            return Ok(Next::AtOnce);
        }
        if !numbered.head_offices.is_empty() {
            pause(PAUSE, &mut shutdown).await;
        }
        if self.waiters.waiting() > 0 {
            let committed = self.numbers.committed();
            tokio::select! {
                biased;
                () = pause(REST, &mut shutdown) => {}
                () = committed.notified() => {}
            }
        } else {
            tokio::select! {
                biased;
                () = pause(REST_WITHOUT_WAITERS, &mut shutdown) => {}
                () = self.waiters.entered().notified() => {}
            }
        }
        Ok(Next::AtOnce)
    }

    /// Looks on a task of its own: it is finished although the request that needed it goes away.
    async fn look(&self, mut latest: OwnedMutexGuard<Latest>) -> Result<Numbered, Unavailable> {
        let look = self.begun.fetch_add(1, Ordering::SeqCst).saturating_add(1);
        let now = self.clock.now();
        let numbers = Arc::clone(&self.numbers);
        let waiters = self.waiters.clone();
        let wanted = Look {
            now,
            kept_since: now.saturating_sub(self.retention),
            since: latest.upto,
        };
        let looking = tokio::spawn(async move {
            match numbers.number(wanted).await {
                Ok(numbered) => {
                    latest.look = look;
                    latest.upto = Some(numbered.upto);
                    waiters.wake(&numbered.head_offices);
                    Ok(numbered)
                }
                Err(unavailable) => {
                    let error = chain(unavailable.cause.as_ref());
                    latest.failed = Some(FailedLook { look, error });
                    Err(unavailable)
                }
            }
        });
        looking.await.unwrap_or_else(|lost| {
            Err(Unavailable {
                cause: Box::new(lost),
            })
        })
    }

    /// The health of the loop.
    #[must_use]
    pub fn health(&self) -> Arc<LoopHealth> {
        Arc::clone(&self.health)
    }
}

impl fmt::Debug for Numberer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Numberer").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
