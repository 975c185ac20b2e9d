//! The janitor: removes records after their retention, settles the deliveries of removed or resumed
//! endpoints, and repairs times that a wrong clock left, all in small batches.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chrono::TimeDelta;
use preauth_core::port::Unavailable;
use preauth_core::value::Timestamp;
use tokio::sync::Notify;

use crate::clock::Clock;
use crate::directory::{ConsoleSessions, Reports};
use crate::hold::Hold;
use crate::invoice_files::{InvoiceFiles, SWEEP_BATCH};
use crate::store::Housekeeping;
use crate::worker::{LoopHealth, Next, Shutdown, repeat};

/// Records removed by one write: few enough that requests do not wait long.
const BATCH: u32 = 200;
/// Deliveries settled by one write.
const SETTLED_BATCH: u32 = 1_000;
/// Rows of counts summed up by one write; no caller waits for it.
const COUNTS_BATCH: u32 = 5_000;
/// Events from which on more were left to be counted.
const ACTIVITY_BATCH: u32 = 1_000;
/// Pause when nothing is left to remove.
const REST: Duration = Duration::from_mins(1);
/// Pause between two walks through the old invoice files, of which those of operations in progress are kept.
const WALK_REST: TimeDelta = TimeDelta::hours(1);
/// Its pause, ten writes that the database gives up after 45 s each, and removals of files.
const STALLS_AFTER: TimeDelta = TimeDelta::minutes(10);

/// Retention of records after their end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Deliveries with their attempts, after the delivery ended. Default: 30 days.
    pub deliveries: TimeDelta,
    /// Mails, after they were sent or given up; `None`: for good. Default: 30 days.
    pub mails: Option<TimeDelta>,
    /// Invoice files, after their operation was concluded or reproved; `None`: for good. Default: for good.
    pub files: Option<TimeDelta>,
    /// The numbers by which events are read on request. Default: 30 days.
    pub events: TimeDelta,
    /// The last use of keys that are revoked or expired. Default: 30 days.
    pub rate_windows: TimeDelta,
}

impl Default for Retention {
    fn default() -> Self {
        Self {
            deliveries: TimeDelta::days(30),
            mails: Some(TimeDelta::days(30)),
            files: None,
            events: TimeDelta::days(30),
            rate_windows: TimeDelta::days(30),
        }
    }
}

/// Keeps the size of the database bounded; any number of instances may run concurrently.
///
/// [`run_once`](Self::run_once) is a single step, [`run`](Self::run) the loop.
pub struct Janitor {
    housekeeping: Arc<dyn Housekeeping>,
    clock: Arc<dyn Clock>,
    retention: Retention,
    files: Option<Arc<InvoiceFiles>>,
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

    /// Settles and removes one small batch of each kind, and returns the number of records; 0 when
    /// nothing is left to do. A kind that fails does not keep the others waiting.
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
            self.step(&until)
        })
        .await;
    }

    /// Goes on with the kinds of which a whole batch was found, until none is left. The others rest:
    /// what was added meanwhile comes next time, because under load there is always something.
    async fn step(&self, shutdown: &Shutdown) -> Result<Next, Unavailable> {
        let mut kinds = Kind::ALL.to_vec();
        let mut first_failure = None;
        let mut brought: u64 = 0;
        while !kinds.is_empty() {
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
            kinds = unfinished;
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
            if *kind == Kind::OldFiles && cleaned.failure.is_none() && self.is_walking() {
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

    /// Whether the walk through old files is under way.
    fn is_walking(&self) -> bool {
        let walk = self.walk.lock().unwrap_or_else(PoisonError::into_inner);
        walk.after > 0
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

/// The kinds of records that the janitor cleans up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Endpoints,
    /// Deliveries and mails that a clock which was ahead put off.
    PutOff,
    /// Endpoints that began to fail, or recovered.
    Failing,
    Replies,
    RateWindows,
    Deliveries,
    Mails,
    /// Invoice files of operations that ended long ago.
    OldFiles,
    /// By which events are read on request.
    EventNumbers,
    Counts,
    Files,
    Sessions,
    /// What reports show.
    Activity,
}

impl Kind {
    const ALL: [Self; 13] = [
        Self::Endpoints,
        Self::PutOff,
        Self::Failing,
        Self::Replies,
        Self::RateWindows,
        Self::Deliveries,
        Self::Mails,
        // Before the files that nothing names.
        Self::OldFiles,
        Self::EventNumbers,
        Self::Counts,
        Self::Files,
        Self::Sessions,
        Self::Activity,
    ];

    /// The number of records from which on a batch may have left some.
    fn whole_batch(self) -> u64 {
        u64::from(match self {
            // One endpoint at a time, however few deliveries it has.
            Self::Endpoints => 1,
            // The walk says itself whether it is at its end.
            Self::OldFiles => u32::MAX,
            Self::Counts => COUNTS_BATCH,
            Self::Activity => ACTIVITY_BATCH,
            Self::Files => SWEEP_BATCH,
            Self::PutOff
            | Self::Failing
            | Self::Replies
            | Self::RateWindows
            | Self::Deliveries
            | Self::Mails
            | Self::EventNumbers
            | Self::Sessions => BATCH,
        })
    }
}

/// The result of a batch of some kinds.
#[derive(Debug, Default)]
struct Cleaned {
    done: u64,
    /// Those of them that were put off.
    brought: u64,
    /// The kinds that may have more.
    unfinished: Vec<Kind>,
    /// Of the first kind that failed.
    failure: Option<Unavailable>,
}

impl Cleaned {
    fn note(&mut self, kind: Kind, batch: Result<u64, Unavailable>) {
        match batch {
            Ok(done) => {
                self.done = self.done.saturating_add(done);
                if kind == Kind::PutOff {
                    self.brought = self.brought.saturating_add(done);
                }
                if done >= kind.whole_batch() {
                    self.unfinished.push(kind);
                }
            }
            Err(failure) => {
                self.failure.get_or_insert(failure);
            }
        }
    }
}

impl fmt::Debug for Janitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Janitor")
            .field("retention", &self.retention)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Seek};
    use std::sync::{Arc, Mutex};

    use async_trait::async_trait;
    use preauth_core::port::Unavailable;
    use preauth_core::value::Timestamp;
    use tokio::sync::Notify;

    use super::{Janitor, REST, Retention};
    use crate::clock::Clock;
    use crate::store::{Housekeeping, OldFiles};
    use crate::worker::shutdown;

    const NOW: &str = "2026-11-21T12:00:00.000Z";

    struct Standing;

    impl Clock for Standing {
        fn now(&self) -> Timestamp {
            Timestamp::parse(NOW).unwrap()
        }
    }

    /// A store with a number of records of each kind left; records the requests.
    #[derive(Default)]
    struct House {
        left: Mutex<u64>,
        asked: Mutex<Vec<String>>,
        /// Whether one kind, the first, always fails.
        is_broken: bool,
        /// Records of each kind that come again after each batch.
        comes: u64,
        /// Deliveries that are put off.
        put_off: Mutex<u64>,
    }

    impl House {
        fn forget(&self, kind: &str, before: Timestamp, limit: u32) -> u64 {
            let mut asked = self.asked.lock().unwrap();
            asked.push(format!("{kind} {before}"));
            assert!(asked.len() < 1_000, "it never rests");
            let mut left = self.left.lock().unwrap();
            let removed = (*left).min(u64::from(limit));
            *left = left.saturating_sub(removed).saturating_add(self.comes);
            removed
        }
    }

    #[async_trait]
    impl Housekeeping for House {
        async fn settle_endpoints(&self, _limit: u32) -> Result<u64, Unavailable> {
            if self.is_broken {
                let cause = "the statement takes too long".into();
                return Err(Unavailable { cause });
            }
            Ok(0)
        }

        fn endpoints_unsettled(&self) -> Arc<Notify> {
            Arc::default()
        }

        async fn bring_forward(&self, _now: Timestamp, limit: u32) -> Result<u64, Unavailable> {
            let mut left = self.put_off.lock().unwrap();
            let brought = (*left).min(u64::from(limit));
            *left = left.saturating_sub(brought);
            Ok(brought)
        }

        async fn notify_of_failing(&self, _: Timestamp, _: u32) -> Result<u64, Unavailable> {
            Ok(0)
        }

        async fn forget_expired_replies(
            &self,
            now: Timestamp,
            limit: u32,
        ) -> Result<u64, Unavailable> {
            Ok(self.forget("replies", now, limit))
        }

        async fn forget_rate_windows(
            &self,
            _now: Timestamp,
            unused_since: Timestamp,
            limit: u32,
        ) -> Result<u64, Unavailable> {
            Ok(self.forget("windows", unused_since, limit))
        }

        async fn forget_ended_deliveries(
            &self,
            ended_before: Timestamp,
            limit: u32,
        ) -> Result<u64, Unavailable> {
            Ok(self.forget("deliveries", ended_before, limit))
        }

        async fn forget_ended_mails(
            &self,
            ended_before: Timestamp,
            limit: u32,
        ) -> Result<u64, Unavailable> {
            Ok(self.forget("mails", ended_before, limit))
        }

        async fn forget_old_files(
            &self,
            _now: Timestamp,
            _ended_before: Timestamp,
            _after: i64,
            _limit: u32,
        ) -> Result<OldFiles, Unavailable> {
            Ok(OldFiles::default())
        }

        async fn forget_event_numbers(
            &self,
            before: Timestamp,
            limit: u32,
        ) -> Result<u64, Unavailable> {
            Ok(self.forget("event numbers", before, limit))
        }

        async fn sum_up_counts(&self, _limit: u32) -> Result<u64, Unavailable> {
            Ok(0)
        }
    }

    fn house(left: u64) -> Arc<House> {
        Arc::new(House {
            left: Mutex::new(left),
            ..House::default()
        })
    }

    #[tokio::test(start_paused = true)]
    async fn a_kind_that_fails_keeps_none_of_the_others_waiting() {
        let house = Arc::new(House {
            left: Mutex::new(2_000),
            is_broken: true,
            ..House::default()
        });
        let janitor = Janitor::new(house.clone(), Arc::new(Standing), Retention::default());
        assert!(janitor.run_once().await.is_err());
        let (trigger, watching) = shutdown();
        let watch = async {
            // Less than its rest between two steps.
            tokio::time::sleep(REST / 2).await;
            trigger.request();
        };
        tokio::join!(janitor.run(watching), watch);
        assert_eq!(*house.left.lock().unwrap(), 0);
        assert!(janitor.health().failures() > 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_kind_that_always_has_a_few_more_rests_between_batches() {
        let house = Arc::new(House {
            left: Mutex::new(1_000),
            comes: 3,
            ..House::default()
        });
        let janitor = Janitor::new(house.clone(), Arc::new(Standing), Retention::default());
        let (trigger, watching) = shutdown();
        let watch = async {
            tokio::time::sleep(REST * 10 + REST / 2).await;
            trigger.request();
        };
        tokio::join!(janitor.run(watching), watch);
        // Five kinds, each once after each rest; in the beginning some more for what had piled up.
        let asked = house.asked.lock().unwrap().len();
        assert!((55..70).contains(&asked), "{asked} batches in ten rests");
    }

    #[tokio::test(start_paused = true)]
    async fn a_repair_is_reported_once_with_its_total() {
        let house = Arc::new(House {
            put_off: Mutex::new(450),
            ..House::default()
        });
        let janitor = Janitor::new(house.clone(), Arc::new(Standing), Retention::default());
        let log = Arc::new(tempfile::tempfile().unwrap());
        let subscriber = tracing_subscriber::fmt()
            .with_ansi(false)
            .with_writer(Arc::clone(&log));
        let listening = tracing::subscriber::set_default(subscriber.finish());
        let (trigger, watching) = shutdown();
        let watch = async {
            tokio::time::sleep(REST / 2).await;
            trigger.request();
        };
        tokio::join!(janitor.run(watching), watch);
        drop(listening);
        assert_eq!(*house.put_off.lock().unwrap(), 0);
        let mut lines = String::new();
        let mut log = &*log;
        log.rewind().unwrap();
        log.read_to_string(&mut lines).unwrap();
        assert_eq!(lines.lines().count(), 1, "{lines}");
        assert!(lines.contains("brought=450"), "{lines}");
    }

    #[tokio::test]
    async fn steps_are_small_and_go_on_until_nothing_is_left() {
        let house = house(2_000);
        let janitor = Janitor::new(house.clone(), Arc::new(Standing), Retention::default());
        let mut steps = Vec::new();
        while let removed @ 1.. = janitor.run_once().await.unwrap() {
            steps.push(removed);
        }
        assert_eq!(steps, [1_000, 1_000]);
    }

    #[tokio::test]
    async fn each_kind_is_kept_as_long_as_it_should_be() {
        let house = house(0);
        let janitor = Janitor::new(house.clone(), Arc::new(Standing), Retention::default());
        janitor.run_once().await.unwrap();
        let asked = house.asked.lock().unwrap().clone();
        let expected = [
            "replies 2026-11-21T12:00:00.000Z",
            "windows 2026-10-22T12:00:00.000Z",
            "deliveries 2026-10-22T12:00:00.000Z",
            "mails 2026-10-22T12:00:00.000Z",
            "event numbers 2026-10-22T12:00:00.000Z",
        ];
        assert_eq!(asked, expected);
    }
}
