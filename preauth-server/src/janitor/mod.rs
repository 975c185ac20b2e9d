//! The janitor: removes records after their retention, settles the deliveries of removed or resumed
//! endpoints, and repairs times that a wrong clock left, all in small batches.

mod kind;
mod retention;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chrono::TimeDelta;
use preauth_core::port::Unavailable;
use preauth_core::value::Timestamp;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::clock::Clock;
use crate::directory::{ConsoleSessions, Reports};
use crate::hold::Hold;
use crate::invoice_files::InvoiceFiles;
use crate::mail::KeptMails;
use crate::store::Housekeeping;
use crate::worker::{LoopHealth, Next, Shutdown, pause, repeat};

use kind::{Cleaned, Kind};
pub use retention::Retention;

/// Records removed by one write: few enough that requests do not wait long.
const BATCH: u32 = 200;
/// Deliveries settled by one write.
const SETTLED_BATCH: u32 = 1_000;
/// Rows of counts summed up by one write; no caller waits for it.
const COUNTS_BATCH: u32 = 5_000;
/// Events from which on more were left to be counted.
const ACTIVITY_BATCH: u32 = 1_000;
/// Pause when nothing is left to remove.
const REST: Duration = Duration::from_secs(30);
/// Between batches it pauses for so many times as long as they took: a backlog, such as a shorter retention or an old
/// backup leaves, takes at most a third of one session's time from the requests beside it.
const PAUSES: u32 = 2;
/// Maximum pause between two batches.
const MAX_PAUSE: Duration = Duration::from_secs(1);
/// Pause between two walks through the old invoice files, of which those of operations in progress are kept.
const WALK_REST: TimeDelta = TimeDelta::hours(1);
/// Its pause, ten writes that the database gives up after 45 s each, and removals of files.
const STALLS_AFTER: TimeDelta = TimeDelta::minutes(10);

/// Keeps the size of the database bounded; any number of instances may run concurrently.
///
/// [`run_once`](Self::run_once) is a single step, [`run`](Self::run) the loop.
pub struct Janitor {
    housekeeping: Arc<dyn Housekeeping>,
    clock: Arc<dyn Clock>,
    retention: Retention,
    files: Option<Arc<InvoiceFiles>>,
    kept_mails: Option<KeptMails>,
    sessions: Option<Arc<dyn ConsoleSessions>>,
    reports: Option<Arc<dyn Reports>>,
    walk: Mutex<Walk>,
    wake: Arc<Notify>,
    hold: Hold,
    health: Arc<LoopHealth>,
}

impl Janitor {
    /// A janitor over a store.
    #[must_use]
    pub fn new(
        housekeeping: Arc<dyn Housekeeping>,
        clock: Arc<dyn Clock>,
        retention: Retention,
    ) -> Self {
        Self {
            housekeeping,
            clock,
            retention,
            files: None,
            kept_mails: None,
            sessions: None,
            reports: None,
            walk: Mutex::default(),
            wake: Arc::default(),
            hold: Hold::default(),
            health: Arc::new(LoopHealth::new("janitor", STALLS_AFTER)),
        }
    }

    /// The same janitor, which makes a step when `wake` is notified.
    #[must_use]
    pub fn woken_by(self, wake: Arc<Notify>) -> Self {
        Self { wake, ..self }
    }

    /// The same janitor, which pauses while the instance is held.
    #[must_use]
    pub fn held_by(self, hold: Hold) -> Self {
        Self { hold, ..self }
    }

    /// The same janitor, which also removes unnamed invoice files.
    #[must_use]
    pub fn sweeping(self, files: Arc<InvoiceFiles>) -> Self {
        Self {
            files: Some(files),
            ..self
        }
    }

    /// The same janitor, which also removes files of mails that have no record any more.
    #[must_use]
    pub(crate) fn tidying(self, mails: KeptMails) -> Self {
        Self {
            kept_mails: Some(mails),
            ..self
        }
    }

    /// The same janitor, which also removes expired sessions of the console.
    #[must_use]
    pub fn ending(self, sessions: Arc<dyn ConsoleSessions>) -> Self {
        Self {
            sessions: Some(sessions),
            ..self
        }
    }

    /// The same janitor, which also counts what reports show.
    #[must_use]
    pub fn counting(self, reports: Arc<dyn Reports>) -> Self {
        Self {
            reports: Some(reports),
            ..self
        }
    }

    /// Settles and removes one small batch of each kind, and returns the number of records and files.
    /// It may be 0 in the middle of a walk through files, when all of a batch stay. A kind that fails
    /// does not keep the others waiting.
    pub async fn run_once(&self) -> Result<u64, Unavailable> {
        let Cleaned {
            done,
            brought,
            failure,
            ..
        } = self.clean(&Kind::ALL).await;
        report_brought(brought);
        failure.map_or(Ok(done), Err)
    }

    /// Runs until shutdown is requested.
    pub async fn run(&self, shutdown: Shutdown) {
        let until = shutdown.clone();
        repeat(&self.health, &self.hold, REST, &self.wake, shutdown, || {
            self.step(until.clone())
        })
        .await;
    }

    /// Goes on with the kinds of which a whole batch was found, until none is left. The others rest:
    /// what was added meanwhile comes next time, because under load there is always something. A backlog may take
    /// hours, so they have their turn in it, too.
    async fn step(&self, mut shutdown: Shutdown) -> Result<Next, Unavailable> {
        let mut kinds = Kind::ALL.to_vec();
        let mut all_had_a_turn = Instant::now();
        let mut first_failure = None;
        let mut brought: u64 = 0;
        while !kinds.is_empty() {
            let began = Instant::now();
            let Cleaned {
                unfinished,
                failure,
                brought: of_these,
                ..
            } = self.clean(&kinds).await;
            brought = brought.saturating_add(of_these);
            self.health.note(failure.is_none());
            first_failure = first_failure.or(failure);
            if self.hold.is_held() || shutdown.is_requested() {
                break;
            }
            if !unfinished.is_empty() && !unfinished.iter().any(|kind| kind.is_awaited()) {
                let took = began.elapsed().saturating_mul(PAUSES);
                pause(took.min(MAX_PAUSE), &mut shutdown).await;
            }
            kinds = unfinished;
            if !kinds.is_empty() && all_had_a_turn.elapsed() >= REST {
                kinds = Kind::ALL.to_vec();
                all_had_a_turn = Instant::now();
            }
            // Deliveries become due by it, so it does not wait for the retention.
            if !kinds.is_empty() && !kinds.contains(&Kind::Endpoints) {
                kinds.push(Kind::Endpoints);
            }
        }
        report_brought(brought);
        first_failure.map_or(Ok(Next::AfterRest), Err)
    }

    /// One batch of each of these kinds.
    async fn clean(&self, kinds: &[Kind]) -> Cleaned {
        let mut cleaned = Cleaned::default();
        for kind in kinds {
            let batch = self.batch(*kind).await;
            if let Ok(done @ 1..) = batch {
                tracing::debug!(target: "janitor", ?kind, done, "settled or removed");
            }
            cleaned.note(*kind, batch);
            if cleaned.failure.is_none() && self.is_walking(*kind) {
                cleaned.unfinished.push(*kind);
            }
        }
        cleaned
    }

    async fn batch(&self, kind: Kind) -> Result<u64, Unavailable> {
        let now = self.clock.now();
        let house = &*self.housekeeping;
        let before = |retention| now.saturating_sub(retention);
        match kind {
            Kind::Endpoints => house.settle_endpoints(SETTLED_BATCH).await,
            Kind::PutOff => house.bring_forward(now, BATCH).await,
            Kind::Failing => house.notify_of_failing(now, BATCH).await,
            Kind::Replies => house.forget_expired_replies(now, BATCH).await,
            Kind::RateWindows => {
                let unused_since = before(self.retention.rate_windows);
                house.forget_rate_windows(now, unused_since, BATCH).await
            }
            Kind::Deliveries => {
                let ended_before = before(self.retention.deliveries);
                house.forget_ended_deliveries(ended_before, BATCH).await
            }
            Kind::Mails => match self.retention.mails {
                Some(kept) => house.forget_ended_mails(before(kept), BATCH).await,
                None => Ok(0),
            },
            Kind::MailFiles => match &self.kept_mails {
                Some(mails) => mails.sweep(now).await,
                None => Ok(0),
            },
            Kind::OldFiles => match self.retention.files {
                Some(kept) => self.forget_old_files(now, before(kept)).await,
                None => Ok(0),
            },
            Kind::EventNumbers => {
                let before = before(self.retention.events);
                house.forget_event_numbers(before, BATCH).await
            }
            Kind::Counts => house.sum_up_counts(COUNTS_BATCH).await,
            Kind::Files => match &self.files {
                Some(files) => files.sweep().await,
                None => Ok(0),
            },
            Kind::Sessions => match &self.sessions {
                Some(sessions) => sessions.forget_expired_sessions(now, BATCH).await,
                None => Ok(0),
            },
            Kind::Activity => match &self.reports {
                Some(reports) => reports.count_activity().await,
                None => Ok(0),
            },
        }
    }

    /// A step of the walk through old files.
    async fn forget_old_files(
        &self,
        now: Timestamp,
        ended_before: Timestamp,
    ) -> Result<u64, Unavailable> {
        let walk = *self.walk.lock().unwrap_or_else(PoisonError::into_inner);
        // A clock that was ahead does not put the next walk off for longer.
        let rests = |at: Timestamp| now < at && at <= now.saturating_add(WALK_REST);
        if walk.begins_at.is_some_and(rests) {
            return Ok(0);
        }
        let step = self
            .housekeeping
            .forget_old_files(now, ended_before, walk.after, BATCH);
        let step = step.await?;
        let next = Walk {
            after: step.next.unwrap_or_default(),
            begins_at: step.next.is_none().then(|| now.saturating_add(WALK_REST)),
        };
        *self.walk.lock().unwrap_or_else(PoisonError::into_inner) = next;
        Ok(step.removed)
    }

    /// Whether a walk of this kind is under way.
    fn is_walking(&self, kind: Kind) -> bool {
        match kind {
            Kind::OldFiles => {
                let walk = self.walk.lock().unwrap_or_else(PoisonError::into_inner);
                walk.after > 0
            }
            Kind::MailFiles => self.kept_mails.as_ref().is_some_and(KeptMails::is_walking),
            _ => false,
        }
    }

    /// The health of the loop.
    #[must_use]
    pub fn health(&self) -> Arc<LoopHealth> {
        Arc::clone(&self.health)
    }
}

/// The walk through old invoice files.
#[derive(Clone, Copy, Debug, Default)]
struct Walk {
    /// The last operation.
    after: i64,
    /// The beginning of the next walk, between two.
    begins_at: Option<Timestamp>,
}

/// Logs the number of all that one step brought forward.
fn report_brought(brought: u64) {
    if brought > 0 {
        tracing::warn!(
            target: "janitor",
            brought,
            "deliveries and mails that a wrong clock had put off for too long are due again"
        );
    }
}

impl fmt::Debug for Janitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Janitor")
            .field("retention", &self.retention)
            .finish_non_exhaustive()
    }
}
