//! The janitor: removes records after their retention, and settles the deliveries of removed or
//! resumed endpoints, all in small batches.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use preauth_core::port::Unavailable;
use tokio::sync::Notify;

use crate::clock::Clock;
use crate::hold::Hold;
use crate::invoice_files::InvoiceFiles;
use crate::store::Housekeeping;
use crate::worker::{LoopHealth, Next, Shutdown, repeat};

/// Records removed by one write: few enough that requests do not wait long.
const BATCH: u32 = 200;
/// Deliveries settled by one write.
const SETTLED_BATCH: u32 = 1_000;
/// Rows of counts summed up by one write; no caller waits for it.
const COUNTS_BATCH: u32 = 5_000;
/// Pause when nothing is left to remove.
const REST: Duration = Duration::from_mins(1);
/// Its pause, eight writes that the database gives up after 45 s each, and removals of files.
const STALLS_AFTER: TimeDelta = TimeDelta::minutes(10);

/// Retention of records after their end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Deliveries with their attempts, after the delivery ended. Default: 30 days.
    pub deliveries: TimeDelta,
    /// Mails, after they were sent or given up. Default: 30 days.
    pub notices: TimeDelta,
    /// The last use of keys that are revoked or expired. Default: 30 days.
    pub rate_windows: TimeDelta,
}

impl Default for Retention {
    fn default() -> Self {
        Self {
            deliveries: TimeDelta::days(30),
            notices: TimeDelta::days(30),
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

    /// Settles and removes one small batch of each kind, and returns the number of records; 0 when
    /// nothing is left to do. A kind that fails does not keep the others waiting.
    pub async fn run_once(&self) -> Result<u64, Unavailable> {
        let Cleaned { done, failure } = self.clean().await;
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

    /// Cleans once; and for as long as a kind fails, until the others have nothing left.
    async fn step(&self, shutdown: &Shutdown) -> Result<Next, Unavailable> {
        loop {
            let Cleaned { done, failure } = self.clean().await;
            let is_over = done == 0 || self.hold.is_held() || shutdown.is_requested();
            match failure {
                None if done == 0 => return Ok(Next::AfterRest),
                None => return Ok(Next::AtOnce),
                Some(failure) if is_over => return Err(failure),
                Some(_) => self.health.note(false),
            }
        }
    }

    async fn clean(&self) -> Cleaned {
        let now = self.clock.now();
        let unused_since = now.saturating_sub(self.retention.rate_windows);
        let ended_before = now.saturating_sub(self.retention.deliveries);
        let sent_before = now.saturating_sub(self.retention.notices);
        let house = &*self.housekeeping;
        let mut cleaned = Cleaned::default();
        let settled = cleaned.note(house.settle_endpoints(SETTLED_BATCH).await);
        let replies = cleaned.note(house.forget_expired_replies(now, BATCH).await);
        let windows = cleaned.note(house.forget_rate_windows(now, unused_since, BATCH).await);
        let deliveries = cleaned.note(house.forget_ended_deliveries(ended_before, BATCH).await);
        let notices = cleaned.note(house.forget_ended_notices(sent_before, BATCH).await);
        let counts = cleaned.note(house.sum_up_counts(COUNTS_BATCH).await);
        let files = match &self.files {
            Some(files) => cleaned.note(files.sweep().await),
            None => 0,
        };
        if cleaned.done > 0 {
            tracing::debug!(
                target: "janitor",
                settled, replies, windows, deliveries, notices, counts, files, "settled and removed"
            );
        }
        cleaned
    }

    /// The health of the loop.
    #[must_use]
    pub fn health(&self) -> Arc<LoopHealth> {
        Arc::clone(&self.health)
    }
}

/// What a batch of each kind came to.
#[derive(Debug, Default)]
struct Cleaned {
    done: u64,
    /// Of the first kind that failed.
    failure: Option<Unavailable>,
}

impl Cleaned {
    /// Takes note of one kind; how many records it was about.
    fn note(&mut self, kind: Result<u64, Unavailable>) -> u64 {
        let done = match kind {
            Ok(done) => done,
            Err(failure) => {
                self.failure.get_or_insert(failure);
                0
            }
        };
        self.done = self.done.saturating_add(done);
        done
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
    use std::sync::{Arc, Mutex};

    use async_trait::async_trait;
    use preauth_core::port::Unavailable;
    use preauth_core::value::Timestamp;
    use tokio::sync::Notify;

    use super::{Janitor, REST, Retention};
    use crate::clock::Clock;
    use crate::store::Housekeeping;
    use crate::worker::shutdown;

    const NOW: &str = "2026-11-21T12:00:00.000Z";

    struct Standing;

    impl Clock for Standing {
        fn now(&self) -> Timestamp {
            Timestamp::parse(NOW).unwrap()
        }
    }

    /// A store with a number of records of each kind left; records the requests.
    struct House {
        left: Mutex<u64>,
        asked: Mutex<Vec<String>>,
        /// Whether one kind, the first, always fails.
        is_broken: bool,
    }

    impl House {
        fn forget(&self, kind: &str, before: Timestamp, limit: u32) -> u64 {
            self.asked.lock().unwrap().push(format!("{kind} {before}"));
            let mut left = self.left.lock().unwrap();
            let removed = (*left).min(u64::from(limit));
            *left = left.saturating_sub(removed);
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

        async fn forget_ended_notices(
            &self,
            ended_before: Timestamp,
            limit: u32,
        ) -> Result<u64, Unavailable> {
            Ok(self.forget("notices", ended_before, limit))
        }

        async fn sum_up_counts(&self, _limit: u32) -> Result<u64, Unavailable> {
            Ok(0)
        }
    }

    fn house(left: u64) -> Arc<House> {
        Arc::new(House {
            left: Mutex::new(left),
            asked: Mutex::default(),
            is_broken: false,
        })
    }

    #[tokio::test(start_paused = true)]
    async fn a_kind_that_fails_keeps_none_of_the_others_waiting() {
        let house = Arc::new(House {
            left: Mutex::new(2_000),
            asked: Mutex::default(),
            is_broken: true,
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

    #[tokio::test]
    async fn steps_are_small_and_go_on_until_nothing_is_left() {
        let house = house(2_000);
        let janitor = Janitor::new(house.clone(), Arc::new(Standing), Retention::default());
        let mut steps = Vec::new();
        while let removed @ 1.. = janitor.run_once().await.unwrap() {
            steps.push(removed);
        }
        assert_eq!(steps, [800, 800, 400]);
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
            "notices 2026-10-22T12:00:00.000Z",
        ];
        assert_eq!(asked, expected);
    }
}
