//! Common to the background loops: they end on request, survive a lost database, and report their
//! health.
//!
//! A loop repeats a single step that returns how much it did; tests call the step, the server runs
//! the loop.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chrono::TimeDelta;
use preauth_core::port::Unavailable;
use tokio::sync::Notify;

use crate::clock::Stopwatch;
use crate::hold::Hold;
use crate::log::chain;

/// Delays before the attempts to record an outcome while the database is unavailable. Together they
/// stay well within a lease.
const RECORD_DELAYS_MS: [u64; 4] = [0, 250, 1_000, 3_000];

/// Interval at which a held loop checks whether it may continue.
pub const HELD_REST: Duration = Duration::from_secs(1);

/// Requests the end of loops; dropping it does as well.
#[derive(Debug)]
pub struct ShutdownTrigger(Arc<Request>);

/// A loop's view of the request to end.
#[derive(Clone, Debug)]
pub struct Shutdown(Arc<Request>);

/// The request to end: made once, never withdrawn.
///
/// Not a watch channel: it wakes its waiters in random order, and a simulated run could not be
/// repeated.
#[derive(Debug, Default)]
struct Request {
    is_made: AtomicBool,
    waiting: Notify,
}

/// A trigger, and the view for loops; clone the view for each loop.
#[must_use]
pub fn shutdown() -> (ShutdownTrigger, Shutdown) {
    let request = Arc::new(Request::default());
    (ShutdownTrigger(Arc::clone(&request)), Shutdown(request))
}

impl ShutdownTrigger {
    /// Requests the end of all loops.
    pub fn request(&self) {
        self.0.is_made.store(true, Ordering::SeqCst);
        self.0.waiting.notify_waiters();
    }
}

impl Drop for ShutdownTrigger {
    /// Without a trigger nothing could request the end, so this requests it.
    fn drop(&mut self) {
        self.request();
    }
}

impl Shutdown {
    /// Waits until the end is requested.
    pub async fn requested(&mut self) {
        // Registers before it checks, so that a request in between is not missed.
        let woken = self.0.waiting.notified();
        tokio::pin!(woken);
        woken.as_mut().enable();
        if !self.is_requested() {
            woken.await;
        }
    }

    /// Whether the end has been requested.
    #[must_use]
    pub fn is_requested(&self) -> bool {
        self.0.is_made.load(Ordering::SeqCst)
    }
}

/// The health of a loop: when it made its last step, and whether its database answers.
pub struct LoopHealth {
    name: &'static str,
    stalls_after: TimeDelta,
    last_step: Mutex<Stopwatch>,
    failures: AtomicU64,
    is_cut_off: AtomicBool,
}

impl LoopHealth {
    /// The health of a loop that is about to begin. The name is used in the log, the probes and the
    /// metrics.
    ///
    /// `stalls_after` must be longer than a step and the following rest, all timeouts included: a
    /// lost database makes steps fail, it does not make them hang.
    #[must_use]
    pub fn new(name: &'static str, stalls_after: TimeDelta) -> Self {
        Self {
            name,
            stalls_after,
            last_step: Mutex::new(Stopwatch::start()),
            failures: AtomicU64::new(0),
            is_cut_off: AtomicBool::new(false),
        }
    }

    /// The name of the loop.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Whether its last step was so long ago that the loop hangs or has ended.
    #[must_use]
    pub fn is_stalled(&self) -> bool {
        self.since_last_step() > self.stalls_after
    }

    /// The number of failed steps.
    #[must_use]
    pub fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    /// The time since the loop's last step, successful or not.
    #[must_use]
    pub fn since_last_step(&self) -> TimeDelta {
        let last_step = *self
            .last_step
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        last_step.elapsed()
    }

    /// Records a step and whether it succeeded; nothing is logged.
    pub fn note(&self, has_succeeded: bool) {
        *self
            .last_step
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Stopwatch::start();
        if !has_succeeded {
            self.failures.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Records a step. A lost database is logged once, and its return as well.
    pub fn observe<T>(&self, step: Result<T, Unavailable>) -> Option<T> {
        self.note(step.is_ok());
        match step {
            Ok(done) => {
                if self.is_cut_off.swap(false, Ordering::Relaxed) {
                    tracing::info!(target: "loop", name = self.name, "database is back");
                }
                Some(done)
            }
            Err(unavailable) => {
                if !self.is_cut_off.swap(true, Ordering::Relaxed) {
                    let error = chain(&unavailable);
                    tracing::error!(target: "loop", name = self.name, error, "database is lost");
                }
                None
            }
        }
    }
}

impl fmt::Debug for LoopHealth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoopHealth")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// Whether a step left work behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// There may be more: step again.
    AtOnce,
    /// There was no more: rest first.
    AfterRest,
}

/// Repeats a step until the end is requested, and rests in between unless `wake` is notified. A
/// step in progress is finished first. Makes no step while the instance is held.
pub async fn repeat<F>(
    health: &LoopHealth,
    hold: &Hold,
    rest: Duration,
    wake: &Notify,
    mut shutdown: Shutdown,
    step: impl Fn() -> F,
) where
    F: Future<Output = Result<Next, Unavailable>>,
{
    while !shutdown.is_requested() {
        if hold.is_held() {
            health.note(true);
            pause(HELD_REST, &mut shutdown).await;
            continue;
        }
        match health.observe(step().await) {
            Some(Next::AtOnce) => tokio::task::yield_now().await,
            Some(Next::AfterRest) | None => {
                tokio::select! {
                    biased;
                    () = pause(rest, &mut shutdown) => {}
                    () = wake.notified() => {}
                }
            }
        }
    }
}

/// Rests, at most until the end is requested.
pub async fn pause(rest: Duration, shutdown: &mut Shutdown) {
    tokio::select! {
        biased;
        () = shutdown.requested() => {}
        () = tokio::time::sleep(rest) => {}
    }
}

/// Records an outcome, with retries while the database is unavailable, because outcomes cannot be
/// repeated. `None` if it stays unavailable; the lease, which lasts longer than this, then expires.
pub async fn retry_briefly<F>(record: impl Fn() -> F) -> Option<bool>
where
    F: Future<Output = Result<bool, Unavailable>>,
{
    for delay_ms in RECORD_DELAYS_MS {
        tokio::time::sleep(Duration::from_millis(delay_ms)).await;
        match record().await {
            Ok(is_recorded) => return Some(is_recorded),
            Err(error) => {
                let error = chain(&error);
                tracing::debug!(target: "loop", error, "outcome not recorded yet");
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use chrono::TimeDelta;
    use preauth_core::port::Unavailable;

    use super::{Hold, LoopHealth, Next, Notify, repeat, shutdown};
    use crate::hold::HoldReason;

    fn lost() -> Unavailable {
        Unavailable {
            cause: "no route".into(),
        }
    }

    #[tokio::test]
    async fn a_loop_survives_a_lost_database_and_ends_when_asked() {
        let (trigger, watching) = shutdown();
        let health = LoopHealth::new("test", TimeDelta::minutes(1));
        let steps = AtomicU32::new(0);
        let wake = Notify::new();
        repeat(
            &health,
            &Hold::default(),
            Duration::from_millis(1),
            &wake,
            watching,
            || async {
                match steps.fetch_add(1, Ordering::Relaxed) {
                    0 => Ok(Next::AtOnce),
                    1 | 2 => Err(lost()),
                    _ => {
                        trigger.request();
                        Ok(Next::AfterRest)
                    }
                }
            },
        )
        .await;
        assert_eq!(steps.into_inner(), 4);
        assert_eq!(health.failures(), 2);
        assert!(!health.is_stalled());
    }

    #[test]
    fn a_loop_that_makes_no_step_for_too_long_is_stalled_and_any_step_ends_that() {
        let health = LoopHealth::new("test", TimeDelta::milliseconds(-1));
        assert!(health.is_stalled());
        let patient = LoopHealth::new("test", TimeDelta::minutes(1));
        assert!(!patient.is_stalled());
        patient.note(false);
        assert!(!patient.is_stalled());
    }

    #[tokio::test(start_paused = true)]
    async fn a_held_loop_makes_no_step_and_lives() {
        let (trigger, watching) = shutdown();
        let health = LoopHealth::new("test", TimeDelta::seconds(2));
        let (hold, wake) = (Hold::default(), Notify::new());
        let steps = AtomicU32::new(0);
        hold.begin(HoldReason::QuietOutbound, "for a look");
        let work = repeat(
            &health,
            &hold,
            Duration::from_secs(9),
            &wake,
            watching,
            || async {
                steps.fetch_add(1, Ordering::Relaxed);
                trigger.request();
                Ok(Next::AfterRest)
            },
        );
        tokio::join!(work, async {
            wake.notify_one();
            tokio::time::sleep(Duration::from_secs(30)).await;
            assert_eq!(steps.load(Ordering::Relaxed), 0);
            assert!(!health.is_stalled());
            hold.end(HoldReason::QuietOutbound);
        });
        assert_eq!(steps.into_inner(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_loop_that_is_woken_does_not_rest_to_the_end() {
        let (trigger, watching) = shutdown();
        let health = LoopHealth::new("test", TimeDelta::minutes(1));
        let wake = Notify::new();
        let began = tokio::time::Instant::now();
        let steps = AtomicU32::new(0);
        let hold = Hold::default();
        let work = repeat(
            &health,
            &hold,
            Duration::from_hours(1),
            &wake,
            watching,
            || async {
                if steps.fetch_add(1, Ordering::Relaxed) == 1 {
                    trigger.request();
                }
                Ok(Next::AfterRest)
            },
        );
        tokio::join!(work, async {
            tokio::time::sleep(Duration::from_millis(1)).await;
            wake.notify_one();
        });
        assert_eq!(steps.into_inner(), 2);
        assert!(began.elapsed() < Duration::from_secs(1));
    }

    #[tokio::test]
    async fn a_dropped_trigger_is_a_request_to_end() {
        let (trigger, mut watching) = shutdown();
        assert!(!watching.is_requested());
        drop(trigger);
        watching.requested().await;
        assert!(watching.is_requested());
    }

    #[tokio::test]
    async fn those_who_wait_for_the_end_wake_in_the_order_in_which_they_began() {
        let (trigger, watching) = shutdown();
        let woken = Arc::new(Mutex::new(Vec::new()));
        let mut tasks = tokio::task::JoinSet::new();
        for number in 0..50 {
            let (mut watching, woken) = (watching.clone(), Arc::clone(&woken));
            tasks.spawn(async move {
                watching.requested().await;
                woken.lock().unwrap().push(number);
            });
        }
        tokio::task::yield_now().await;
        trigger.request();
        while tasks.join_next().await.is_some() {}
        assert_eq!(*woken.lock().unwrap(), (0..50).collect::<Vec<_>>());
    }

    #[test]
    fn the_chain_of_causes_is_one_line() {
        assert_eq!(
            crate::log::chain(&lost()),
            "the store is not available: no route"
        );
    }
}
